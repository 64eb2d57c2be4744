"""A file shows whether it trains, and whether it does anything by itself."""

from pathlib import Path

import pytest

from deviate.analysis.entries import Signs, read_signs


def read(tmp_path: Path, text: str | bytes) -> Signs | None:
    path = tmp_path / "some.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_signs(path)


def signs(tmp_path: Path, text: str | bytes) -> Signs:
    found = read(tmp_path, text)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("line", "called"),
    [
        ("loss.backward()", "backward"),
        ("self.optimizer.step()", "optimizer.step"),
        ("history = model.fit(x, y)", "fit"),
        ("with tf.GradientTape() as tape: pass", "GradientTape"),
        ("loss, grads = jax.value_and_grad(f)(p)", "value_and_grad"),
        ("trainer.train()", "trainer.train"),
    ],
)
def test_calls_that_train_are_seen(tmp_path: Path, line: str, called: str) -> None:
    assert called in signs(tmp_path, f"for epoch in range(3):\n    {line}\n").training


@pytest.mark.parametrize("line", ["scaler.fit(x)", "model.train()", "env.step(a)", "# loss.backward()", "fit(1)"])
def test_calls_that_only_look_alike_are_not(tmp_path: Path, line: str) -> None:
    assert signs(tmp_path, f"for epoch in range(3):\n    {line}\n    pass\n").training == ()


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("def main():\n    m.fit()\nif __name__ == '__main__':\n    main()\n", True),
        ("def train():\n    m.fit()\n\ntrain()\n", True),
        ("for epoch in range(3):\n    m.fit()\n", True),
        ("h = model.fit(x)\n", True),
        ("try:\n    import a\nexcept ImportError:\n    a = None\ndef train():\n    m.fit()\n", False),
        ("import torch\ntorch.manual_seed(0)\nset_up()\ndef train():\n    m.fit()\n", False),
        ("register(1)\nprint('fit')\nx = Model()\n", False),
    ],
)
def test_a_file_that_only_defines_has_no_signs(tmp_path: Path, text: str, starts: bool) -> None:  # noqa: FBT001
    assert (read(tmp_path, text) is not None) is starts


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"for epoch in range(3):\n    print loss\n    loss.backward()\n", "no valid Python 3 at line 2"),
        (b"for epoch in range(3):\n\tx\n        y.backward()\n", "no valid Python 3"),
        (b"\xff\xfe# train\nloss.backward()\n", "no valid Python 3"),
        (b"loss.backward()\0\n", "no valid Python 3"),
        (b"loss.backward(" + b"(" * 5000 + b")" * 5000 + b")\n", "no valid Python 3"),
    ],
)
def test_what_cannot_be_read_is_told_and_its_training_seen_all_the_same(
    tmp_path: Path, content: bytes, told: str
) -> None:
    found = signs(tmp_path, content)
    assert told in found.error
    assert found.training == ("backward",)


def test_a_file_with_a_coding_line_is_read(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\nname = 'é'\nfor epoch in range(3):\n    loss.backward()\n"
    found = signs(tmp_path, text.encode("latin-1"))
    assert (found.error, found.loop, found.training) == ("", "epoch", ("backward",))
