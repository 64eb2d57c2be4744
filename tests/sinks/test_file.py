from collections.abc import Callable

import pytest

from deviate.sinks import find_sink


@pytest.mark.parametrize(
    "callee",
    [
        "builtins.open().write",
        "io.open().writelines",
        "pathlib.Path().open().write",
        "tensorflow.io.gfile.GFile().write",
        "?f.write",
        "?self.log_file.write",
        "?logger.write",
        "?open().write",
    ],
)
def test_what_is_written_to_a_text_file_is_a_message(callee: str, report: Callable[..., object]) -> None:
    assert report(callee, "loss 0.5\n") == [("Message", "loss 0.5\n")]


def test_writers_of_other_things_carry_nothing(report: Callable[..., object]) -> None:
    # Like scipy.io.wavfile.write(path, rate, data).
    assert report("?wavfile.write", "a.wav", 16000, [0.1]) == []
    assert find_sink("json.dump", "f.write") is not find_sink(None, "f.write")
