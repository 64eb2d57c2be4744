"""Secrets leave no trace in what is written down, and nothing else is touched."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deviate.base.redaction import (
    HIDDEN,
    is_secret,
    known_secrets,
    redact,
    redact_variables,
    redact_words,
    split_secrets,
)

SECRET_NAMES = (
    "KEY", "WANDB_API_KEY", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD", "PGPASSWORD",
    "MYSQL_PWD", "api-key", "apiKey", "use_auth_token", "GOOGLE_APPLICATION_CREDENTIALS", "passwd", "logger.wandb.key",
    "OPENAI_API", "db_pass", "SENTRY_DSN", "access_tokens", "APIKey",
)  # fmt: skip
OPEN_NAMES = (
    "MONKEY_PATCH", "KEYBOARD", "AUTHOR", "lr", "max_tokens", "pad-token", "eos_token_id", "TOKENIZERS_PARALLELISM",
    "key_padding_mask", "two-pass", "pass", "PWD", "OLDPWD", "PATH", "TF_API_VERSION", "n_tokens", "image_key",
    "passes", "keys", "CUBLAS_WORKSPACE_CONFIG",
)  # fmt: skip
INNOCENT = (
    "python train.py --lr 0.1 --epochs=10 seed=3 --pad-token '<pad>'",
    "git checkout 3c8f54bbac2c23ce1c3b0d1f3a5b1a7c0e9f4d21 && bash run.sh 'a b' | tee log.txt",
    "torchrun --nproc-per-node 2 -m pkg.train data.path=/data/sk-learn/hf_models --rdzv-endpoint=localhost:29500",
    "curl https://example.org:8080/a?b=c&d=e ssh://git@github.com/x.git",
    "python -c \"print({'loss': 1, 'task': 'sk-task'})\"",
)

secrets = st.text("abcXYZ019/+_.!$%^*()", min_size=8, max_size=30).map(lambda text: f"Zq7{text}")
spaced = st.text("abXY01 '\"\\&#", min_size=1, max_size=20).map(lambda text: f"Zq7{text}Zq7")
plain_words = st.sampled_from(["--lr", "0.1", "train.py", "--verbose", "seed=3", "-c", "a b", "it's", "--name=x"])


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_names_of_secrets_are_known_by_their_words(name: str) -> None:
    assert is_secret(name)
    assert is_secret(f"--{name}")


@pytest.mark.parametrize("name", OPEN_NAMES)
def test_other_names_are_not(name: str) -> None:
    assert not is_secret(name)


@pytest.mark.parametrize("text", INNOCENT)
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert redact(text) == text
    assert redact_words(shlex.split(text)) == tuple(shlex.split(text))


@given(st.lists(st.tuples(st.sampled_from(OPEN_NAMES), st.text("abc019/._-", min_size=1)), max_size=5))
def test_options_of_other_names_stay_byte_for_byte(options: list[tuple[str, str]]) -> None:
    words = [f"--{name}={value}" for name, value in options]
    assert redact(shlex.join(words)) == shlex.join(words)
    assert redact_words(words) == tuple(words)


@given(st.lists(plain_words), st.sampled_from(SECRET_NAMES), secrets | spaced, st.lists(plain_words))
def test_the_value_of_a_secret_is_in_no_command(before: list[str], name: str, secret: str, after: list[str]) -> None:
    for words in ([f"--{name}={secret}"], [f"--{name}", secret], [f"{name}={secret}"], [f"+{name}={secret}"]):
        told = redact_words([*before, *words, *after])
        assert told[: len(before)] == tuple(before)
        assert told[len(before) + len(words) :] == tuple(after)
        assert "Zq7" not in " ".join(told)
        assert "Zq7" not in redact(shlex.join([*before, *words, *after]))


@given(st.sampled_from(SECRET_NAMES), secrets)
def test_the_value_of_a_secret_is_in_no_text(name: str, secret: str) -> None:
    texts = [
        f'{{"{name}": "{secret}", "lr": 1}}',
        f"{{'{name}': '{secret}'}}",
        f"export {name}='{secret}'; python train.py",
        f"{name}: {secret}",
        f'curl -H "Authorization: Bearer {secret}" https://example.org',
        f"https://me:{secret.replace('/', '')}@example.org/x.git",
        f"https://example.org/?{name}={secret.replace('&', '')}&page=2",
        f"bash -c 'python train.py --{name} {secret}'",
        f"{name}='{secret}",
    ]
    for text in texts:
        assert secret.replace("/", "") not in redact(text).replace("/", ""), text
        assert redact(redact(text)) == redact(text)


@pytest.mark.parametrize(
    "secret",
    [
        "hf_" + "aB3" * 10,
        "ghp_" + "aB3" * 12,
        "github_pat_" + "1A_b" * 10,
        "sk-" + "proj-a1B2" * 4,
        "AKIA" + "ABCD1234" * 2,
        "eyJhbGciOiJI.eyJzdWIiOiIx.abc",
        "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_keys_of_a_known_form_are_found_wherever_they_stand(secret: str) -> None:
    assert redact(f"python train.py {secret} --lr 1") == f"python train.py {HIDDEN} --lr 1"
    assert redact_words(["x.py", secret]) == ("x.py", HIDDEN)


def test_forty_digits_are_a_key_only_after_a_word_that_says_so() -> None:
    digits = "3c8f54bbac2c23ce1c3b0d1f3a5b1a7c0e9f4d21"
    assert redact(f"wandb login {digits}") == f"wandb login {HIDDEN}"
    assert redact(f"git show {digits}") == f"git show {digits}"


def test_an_option_without_a_value_hides_nothing() -> None:
    assert redact("x.py --use-auth-token --epochs 3") == "x.py --use-auth-token --epochs 3"
    assert redact_words(["x.py", "--token", "-v", "--epochs", "3"]) == ("x.py", "--token", "-v", "--epochs", "3")


def test_the_rest_of_a_query_and_of_a_mapping_stays() -> None:
    assert redact("https://e.org/?token=abc&page=2") == f"https://e.org/?token={HIDDEN}&page=2"
    assert redact('{"api_key": "abc", "lr": 1}') == f'{{"api_key": {HIDDEN}, "lr": 1}}'


def test_what_the_variables_hold_is_found_at_any_place_of_a_command() -> None:
    variables = {"MY_TOKEN": "tomato-soup-12", "A_KEY": "1", "PATH": "/usr/bin/python3"}
    assert known_secrets(variables) == ("tomato-soup-12",)
    words = ["/usr/bin/python3", "x.py", "1", "--as=tomato-soup-12"]
    assert redact_words(words, known_secrets(variables)) == ("/usr/bin/python3", "x.py", "1", f"--as={HIDDEN}")


def test_variables_are_written_down_without_secrets() -> None:
    variables = {"WANDB_API_KEY": "abc", "OMP_NUM_THREADS": "2", "PIP_INDEX_URL": "https://me:pw@example.org/simple"}
    assert redact_variables(variables) == {
        "WANDB_API_KEY": HIDDEN,
        "OMP_NUM_THREADS": "2",
        "PIP_INDEX_URL": f"https://me:{HIDDEN}@example.org/simple",
    }
    opened, secret = split_secrets(tuple(variables.items()))
    assert opened == (("OMP_NUM_THREADS", "2"),)
    assert [name for name, _ in secret] == ["WANDB_API_KEY", "PIP_INDEX_URL"]
