"""Text and numbers as LaTeX that compiles with pdflatex and its standard packages, whatever the text contains."""

import math
import re
import unicodedata

from deviate.report.format import MINUS, clean, shorten
from deviate.report.numbers import PLUS_MINUS, TO, Pieces, ShownNumber

SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "_": r"\_", "%": r"\%", "&": r"\&", "#": r"\#", "$": r"\$",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", '"': "''", "`": r"\`{}",
    # In the older font encoding, which is still the default, these three are other characters.
    "<": "$<$", ">": "$>$", "|": "$|$",
    # At the beginning of a row they would belong to the end of the one before.
    "[": "{[}", "]": "{]}", "*": "{*}",
}  # fmt: skip
SIGNS = {
    "−": "$-$", "±": r"$\pm$", "×": r"$\times$", "·": r"$\cdot$", "…": r"\ldots{}", "–": "--", "—": "---", "‘": "`",
    "’": "'", "“": "``", "”": "''", "≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "≈": r"$\approx$",
    "∞": r"$\infty$", "→": r"$\rightarrow$", "←": r"$\leftarrow$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "∂": r"$\partial$", "√": r"$\surd$", "°": r"$^{\circ}$", "µ": r"$\mu$", "²": "$^{2}$", "³": "$^{3}$",
    "ß": r"\ss{}", "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}",
    "ł": r"\l{}", "Ł": r"\L{}", "ı": r"\i{}", "\u00a0": "~", "\u2009": r"\,", "\u202f": r"\,",
}  # fmt: skip
GREEK = {
    "Α": "A", "Β": "B", "Γ": r"\Gamma", "Δ": r"\Delta", "Ε": "E", "Ζ": "Z", "Η": "H", "Θ": r"\Theta", "Ι": "I",
    "Κ": "K", "Λ": r"\Lambda", "Μ": "M", "Ν": "N", "Ξ": r"\Xi", "Ο": "O", "Π": r"\Pi", "Ρ": "P", "Σ": r"\Sigma",
    "Τ": "T", "Υ": r"\Upsilon", "Φ": r"\Phi", "Χ": "X", "Ψ": r"\Psi", "Ω": r"\Omega",
    "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon", "ζ": r"\zeta", "η": r"\eta",
    "θ": r"\theta", "ι": r"\iota", "κ": r"\kappa", "λ": r"\lambda", "μ": r"\mu", "ν": r"\nu", "ξ": r"\xi", "ο": "o",
    "π": r"\pi", "ρ": r"\rho", "ς": r"\varsigma", "σ": r"\sigma", "τ": r"\tau", "υ": r"\upsilon", "φ": r"\varphi",
    "χ": r"\chi", "ψ": r"\psi", "ω": r"\omega", "ϵ": r"\epsilon", "ϑ": r"\vartheta", "ϕ": r"\phi",
}  # fmt: skip
ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0304": "=", "\u0306": "u", "\u0307": ".",
    "\u0308": '"', "\u030a": "r", "\u030b": "H", "\u030c": "v", "\u0327": "c",
}  # fmt: skip
LIGATURE = re.compile(r"(?<=-)(?=-)|(?<=')(?=')|(?<=,)(?=,)|(?<=[?!])(?=`)")
BREAK = re.compile(r"(?<=[^\W\d][_/\\:=])(?=\w)|(?<=[a-z]\.)(?=[a-z])|(?<=[^\W\d_]{20})")
LONGEST_WORD = 12
LONGEST_COMMENT = 300
BETWEEN = {mark: mark for mark in (PLUS_MINUS, "[", " [", "]", " µs")} | {"—": "---"}
"""What stands beside numbers as it is: brackets would be escaped among words, and µ be set in mathematics."""


def escape(text: str) -> str:
    r"""Text as LaTeX shows it again; a character that pdflatex has no font for is shown as its code.

    >>> print(escape("top_1 & 50%"), escape("σ ≤ é"), escape("精"))
    top\_1 \& 50\% $\sigma$ $\leq$ \'{e} {[}U+7CBE{]}
    """
    apart = LIGATURE.sub("\u200b", unicodedata.normalize("NFC", text))
    return "".join(_character(character) for character in apart)


def prose(text: str) -> str:
    r"""Text of a caption or a footnote: escaped, with names and paths broken where a line has no room for them.

    >>> print(prose("runs/0/test_acc.log ended"))
    runs/\allowbreak{}0/test\_\allowbreak{}acc.\allowbreak{}log ended
    """
    return " ".join(_breakable(word) if len(word) > LONGEST_WORD else escape(word) for word in text.split(" "))


def comment(text: str) -> str:
    """Text for a LaTeX comment: printable ASCII on one line."""
    return "".join(
        character if " " <= character <= "~" else "?"
        for character in shorten(clean(text), LONGEST_COMMENT).replace("…", "...")
    )


def typeset(pieces: Pieces) -> str:
    r"""Numbers in mathematics, words as words; the ends of an interval in brackets are set apart by a comma.

    >>> from deviate.report.numbers import ShownNumber, ends
    >>> mean, sd, done, planned = map(ShownNumber, (93.41, 0.22, 9, 10), (2, 2, 0, 0))
    >>> print(typeset((mean, " ± ", sd, " (", done, "/", planned, ")")))
    $93.41 \pm 0.22$ ($9$/$10$)
    >>> difference, small = ShownNumber(0.3, 1, "signed"), ShownNumber(2.31e-7, 9)
    >>> print(typeset((difference, " [", *ends(-0.1, 0.7, 1), "]")), typeset((small,)))
    $+0.3$ [$-0.1$, $0.7$] $2.31 \times 10^{-7}$
    """
    parts, is_open = [], False
    for piece in pieces:
        if isinstance(piece, ShownNumber):
            parts.append(_mathematics(piece))
            continue
        is_open = piece.rfind("[") > piece.rfind("]") or (is_open and "]" not in piece)
        parts.append((", " if is_open else r"\,\ldots\,") if piece == TO else BETWEEN.get(piece) or escape(piece))
    text = "".join(parts).replace(f"${PLUS_MINUS}$", r" \pm ")
    # A row that began with a bracket would be taken for an option of the end of the row before.
    return f"{{}}{text}" if text.startswith("[") else text


def _mathematics(number: ShownNumber) -> str:
    mantissa, exponent = number.digits
    if not math.isfinite(number.value):
        return mantissa.replace(MINUS, "$-$")
    power = rf" \times 10^{{{exponent}}}" if exponent else ""
    return f"${mantissa}{power}$".replace(MINUS, "-").replace(",", "$,$")


def _breakable(word: str) -> str:
    return r"\allowbreak{}".join(map(escape, BREAK.split(word)))


def _character(character: str) -> str:
    if character in SPECIAL:
        return SPECIAL[character]
    if " " <= character <= "~":
        return character
    if character in SIGNS:
        return SIGNS[character]
    if character in GREEK:
        return f"${GREEK[character]}$"
    if unicodedata.category(character) in {"Mn", "Cf"} or 0xFE00 <= ord(character) <= 0xFE0F:
        return "{}"  # marks and joiners that stand alone show nothing
    parts = unicodedata.normalize("NFD", character)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in ACCENTS:
        letter = {"i": r"\i", "j": r"\j"}.get(parts[0], parts[0])
        return rf"\{ACCENTS[parts[1]]}{{{letter}}}"
    plain = unicodedata.normalize("NFKC", character)
    if plain != character and plain.isascii() and plain.isprintable():
        return "".join(_character(character) for character in plain)
    return f"{{[}}U+{ord(character):04X}{{]}}"
