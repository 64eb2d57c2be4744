"""Secrets: recognises their names, and removes them from texts, command lines and variables.

In doubt a value is removed: a record that lacks a harmless setting is a nuisance, one that contains a key is a leak.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

HIDDEN = "[redacted]"
SHORTEST_KNOWN = 8
"""Known secrets below this length are words such as `true`, which stand everywhere."""


def _split_words(words: str) -> frozenset[str]:
    return frozenset(words.split())


ALWAYS = _split_words(
    "SECRET SECRETS PASSWORD PASSWORDS PASSWD PASSPHRASE CREDENTIAL CREDENTIALS CRED CREDS AUTH OAUTH AUTHORIZATION "
    "BEARER APIKEY APIKEYS APITOKEN AUTHTOKEN AUTHKEY ACCESSKEY ACCESSTOKEN SECRETKEY PRIVATEKEY COOKIE DSN"
)
OFTEN: Mapping[str, frozenset[str]] = {
    "KEY": _split_words(
        "DIM DIMS SIZE SORT IMAGE IMAGES LABEL LABELS TEXT QUERY PADDING METRIC COLUMN VALUE HEADS NORM BIAS ERROR"
    ),
    "TOKEN": _split_words(
        "PAD PADDING EOS BOS UNK MASK SEP CLS SPECIAL MAX MIN NUM N PER TYPE LENGTH DROPOUT COUNT LEVEL IMAGE START "
        "END STOP MIXING POOLING ERROR"
    ),
    "KEYS": frozenset(),
    "TOKENS": frozenset(),
}
"""Words that name a secret, and what beside them says that they name something of a model or a data set."""
OPENING = _split_words("API ACCESS SECRET PRIVATE AUTH HF GITHUB WANDB AUTHORIZED")
"""What makes a secret of KEYS and TOKENS, which otherwise are counts and columns."""
LAST = {"PWD", "API", "PASS"}
"""Words that name a secret at the end of a longer name: DB_PASS, not `--pass 2`; MYSQL_PWD, not the working folder."""
NOT_PASSED = _split_words("FORWARD BACKWARD SINGLE ONE TWO MULTI LOW HIGH BAND FIRST SECOND BY OLD")
ENDING = re.compile(r"(?:PASSWORD|PASSWD|PASSPHRASE|PASSCODE|APIKEY|SECRETKEY|SSHPASS)$")
WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

NAME_ALONE = re.compile(r"[-+~]*[A-Za-z_][\w.-]*")
OPTION = re.compile(r"--[A-Za-z]|-[A-Za-z](?=\s|$)")
NAMED = re.compile(
    r"""(?<![\w.-])(?P<opened>["']?)(?P<dashes>[-+~]{0,2})(?P<name>[A-Za-z_][\w.-]*)(?P<closed>["']?)"""
    r"""(?P<between>[ \t]*(?:=(?!=)|:(?!//))[ \t]*|[ \t]+)"""
)
"""A name and what leads from it to its value: `--key value`, `--key=value`, `key: value`, `"key": "value"`."""
WORD_OF_A_SHELL = re.compile(
    r"""(?:(?:Bearer|Basic|Digest|Token)\s+)?(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])*\S*""",
    re.IGNORECASE | re.DOTALL,
)
"""One word with its quotes; a quote that is never closed goes with what is glued to it."""
VALUE_OF_JSON = re.compile(r"""\[redacted\]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,}\]]+""")
LITERAL = re.compile(r"[A-Za-z]{0,2}[\"']")
VALUE_OF_A_QUERY = re.compile(r"[^\s&#'\"]+")

BLOCK = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL)
URL = re.compile(r"(?P<before>(?<![\w+.-])[A-Za-z][\w+.-]*://[^\s/:@'\"]*:)[^\s/]+@|(?P<user>https?://)[^\s/:@'\"]+@")
SHAPE = re.compile(
    r"""(?<![A-Za-z0-9])(?:
    hf_[A-Za-z0-9]{16,} | gh[pousr]_[A-Za-z0-9]{16,} | github_pat_\w{16,} | glpat-[\w-]{16,}
    | sk-(?=[\w-]{0,60}\d)[\w-]{16,} | (?:AKIA|ASIA)[0-9A-Z]{16} | AIza[\w-]{30,} | xox[abeprs]-[\w-]{10,}
    | wandb_v1_\w{16,} | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{30,} | eyJ[\w-]{8,}\.[\w-]{4,}\.[\w-]*
    )""",
    re.VERBOSE,
)
"""Source: the formats of Hugging Face, GitHub, GitLab, OpenAI, AWS, Google, Slack, wandb, npm, PyPI, JWT."""
LOGIN = re.compile(r"(?P<before>(?:\bBearer|\blogin|key|token|secret)\b\W{1,3})[0-9a-f]{40,}\b", re.IGNORECASE)
"""The key of wandb before version 1: forty hexadecimal digits, as a commit of git, so what stands before it counts."""


def is_secret(name: str) -> bool:
    """Whether a variable or an option of this name holds a secret, by its whole words.

    >>> [is_secret(name) for name in ("WANDB_API_KEY", "--hf-token", "apiKey", "MONKEY_PATCH", "max_tokens")]
    [True, True, True, False, False]
    """
    words = [word.upper() for word in WORD.findall(name)]
    among = set(words)
    if among & ALWAYS or any(ENDING.search(word) for word in words):
        return True
    for word, innocent in OFTEN.items():
        if word in among and not among & innocent and (not word.endswith("S") or among & OPENING):
            return True
    return len(words) > 1 and words[-1] in LAST and not among & NOT_PASSED


def split_secrets(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """Split variables into those that may be stored, and secrets: by name, or by the form of the value."""
    opened: list[tuple[str, str]] = []
    secret: list[tuple[str, str]] = []
    for name, value in pairs:
        (secret if is_secret(name) or redact(value) != value else opened).append((name, value))
    return tuple(opened), tuple(secret)


def redact_variables(variables: Mapping[str, str], secrets: Iterable[str] = ()) -> dict[str, str]:
    """Variables of a process that may be stored.

    Args:
        secrets: secrets that go wherever they stand.
    """
    values = _sort_secrets(secrets)
    return {name: HIDDEN if is_secret(name) else redact(value, values) for name, value in variables.items()}


def known_secrets(variables: Mapping[str, str]) -> tuple[str, ...]:
    """Secrets in the variables of a process, as a command may contain one anywhere."""
    return tuple(
        value for name, value in variables.items() if is_secret(name) and len(value) >= SHORTEST_KNOWN and value.strip()
    )


def redact_words(words: Sequence[str], secrets: Iterable[str] = ()) -> tuple[str, ...]:
    """The words of a command without secrets; the number of words is unchanged.

    Args:
        secrets: secrets that go wherever they stand.
    """
    values = _sort_secrets(secrets)
    shown_words: list[str] = []
    is_value = False
    for word in words:
        if is_value and not OPTION.match(word):
            shown_words.append(HIDDEN)
            is_value = False
            continue
        name, equals, _ = word.partition("=")
        is_option = word.startswith("-")
        if equals and NAME_ALONE.fullmatch(name) and is_secret(name):
            shown_words.append(f"{name}={HIDDEN}")
            is_value = False
        else:
            shown_words.append(redact(word, values))
            is_value = is_option and not equals and NAME_ALONE.fullmatch(word) is not None and is_secret(word)
    return tuple(shown_words)


def redact(text: str, secrets: Iterable[str] = (), *, is_code: bool = False) -> str:
    """Remove secrets from a text or a command line; other text is returned unchanged.

    Args:
        secrets: secrets that go wherever they stand.
        is_code: whether the text is Python, in which a literal alone holds a secret.

    >>> redact("python train.py --lr 0.1 --api-key=abc KEY=1")
    'python train.py --lr 0.1 --api-key=[redacted] KEY=[redacted]'
    >>> redact("key=jax.random.key(0), api_key='abc'", is_code=True)
    'key=jax.random.key(0), api_key=[redacted]'
    """
    for value in _sort_secrets(secrets):
        text = text.replace(value, HIDDEN)
    text = BLOCK.sub(HIDDEN, text)
    text = URL.sub(lambda match: f"{match['before'] or match['user']}{HIDDEN}@", text)
    text = SHAPE.sub(HIDDEN, text)
    text = LOGIN.sub(rf"\g<before>{HIDDEN}", text)
    return _without_named(text, is_code=is_code)


def _sort_secrets(secrets: Iterable[str]) -> list[str]:
    """Sort secrets by length, longest first, as one may be part of another."""
    return sorted((value for value in secrets if len(value) >= SHORTEST_KNOWN), key=len, reverse=True)


def _without_named(text: str, *, is_code: bool) -> str:
    parts: list[str] = []
    done = at = 0
    while match := NAMED.search(text, at):
        at = match.end()
        if is_secret(match["name"]):
            begin, end = at, _end_of_value(text, match)
            if begin < end and (not is_code or LITERAL.match(text, begin)):
                parts += [text[done:begin], HIDDEN]
                done = at = end
    return "".join([*parts, text[done:]])


def _end_of_value(text: str, match: re.Match[str]) -> int:
    """End of the value for a name; its start if the value is empty."""
    begin, opened = match.end(), match["opened"]
    if not match["between"].strip() and ("-" not in match["dashes"] or OPTION.match(text, begin)):
        return begin
    if opened and match["closed"] == opened:
        value = VALUE_OF_JSON if match["between"].strip() else WORD_OF_A_SHELL
    elif opened:  # quotes enclose name and value
        close = text.find(opened, begin)
        if close < 0:
            return len(text)
        return close if text[close + 1 : close + 2] not in {"'", '"'} else _end_of_word(text, close + 1)
    else:
        value = VALUE_OF_A_QUERY if text[: match.start()].endswith(("?", "&")) else WORD_OF_A_SHELL
    matched = value.match(text, begin)
    return matched.end() if matched else begin


def _end_of_word(text: str, begin: int) -> int:
    """End of the text that follows a quote without a blank, which a shell treats as the same word."""
    matched = WORD_OF_A_SHELL.match(text, begin)
    return matched.end() if matched else begin
