"""Names of LaTeX commands for experiments and metrics: letters only, and unique."""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence

DIGITS = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
LONGEST = 40
"""Letters of a name in a command: longer ones end in letters of their hash."""
N_HASHED = 6


def letters(name: str) -> str:
    """A name in letters: words begin with a capital, digits are spelt, other letters go by their name in Unicode.

    >>> letters("test_acc"), letters("Resnet50"), letters("top-5 (%)"), letters("σ"), letters("valLoss")
    ('TestAcc', 'ResnetFiveZero', 'TopFive', 'Sigma', 'ValLoss')
    """
    words: list[str] = []
    for word in re.findall(r"[A-Za-z]+|[0-9]|[^\x00-\x7f]", unicodedata.normalize("NFKC", name)):
        if word.isascii():
            words.append(DIGITS[int(word)] if word.isdigit() else word[0].upper() + word[1:])
        else:
            words.append(_spelt(word))
    text = "".join(words)
    return text if len(text) <= LONGEST else text[: LONGEST - N_HASHED] + hash_letters(name)


def hash_letters(name: str) -> str:
    """A few letters derived from a hash of the name, which do not depend on other names."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return "".join(chr(ord("a") + byte % 26) for byte in digest[:N_HASHED]).capitalize()


def prefixes(names: Sequence[tuple[str, ...]], endings: Iterable[str], used_names: Iterable[str] = ()) -> list[str]:
    """Unique command prefixes for the names, which stay unique with any of the given endings.

    A name keeps its prefix unless an earlier name uses it, so appending names does not change it.

    Args:
        names: distinct; parts of one, such as experiment and metric, follow each other.
        used_names: commands that are there already.
    """
    endings, commands, chosen = tuple(endings), set(used_names), []
    for name in names:
        plain = "".join(map(letters, name))
        prefix, mark = plain or "X", "\x1f".join(name)
        while any(f"{prefix}{ending}" in commands for ending in endings):
            prefix, mark = plain + hash_letters(mark), mark + "\x1f"
        commands |= {f"{prefix}{ending}" for ending in endings}
        chosen.append(prefix)
    return chosen


def _spelt(character: str) -> str:
    """The last word of a character's Unicode name; for Greek letters that is the letter: GREEK SMALL LETTER SIGMA."""
    plain = unicodedata.normalize("NFD", character)[0]
    if plain.isascii() and plain.isalpha():
        return plain
    if not unicodedata.category(character).startswith(("L", "N")):
        return ""
    words = re.findall(r"[A-Z]+", unicodedata.name(character, "").rpartition("-")[0] or unicodedata.name(character, ""))
    return words[-1].capitalize() if words else ""
