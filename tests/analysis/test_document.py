import json
from collections.abc import Callable

from deviate.analysis.document import explain_nothing_found, to_document
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]


def test_the_document_has_the_keys_of_the_design(analyse: Analyse) -> None:
    analysis = analyse("for epoch in range(3):\n    loss.backward()\n    print(f'{epoch} loss {loss:.3f}')\n")
    document = json.loads(json.dumps(to_document(analysis)))
    assert list(document) == [
        "schema", "root", "script", "main_loop", "primary", "metrics", "rejected", "alternatives", "hazards",
        "side_effects",
    ]  # fmt: skip
    evidence = document["main_loop"].pop("evidence")
    assert document["main_loop"] == {"file": "train.py", "line": 1, "kind": "for", "variable": "epoch"}
    assert "counts epochs (epoch)" in evidence
    keys = ["id", "name", "expression", "file", "line", "sink", "role", "direction", "evidence"]
    assert list(document["metrics"][0]) == keys
    assert list(document["rejected"][0]) == ["expression", "file", "line", "reason"]
    assert to_document(analyse("x = 1\n"))["main_loop"] is None


def test_a_script_without_metrics_is_answered_with_its_near_misses(analyse: Analyse) -> None:
    error = explain_nothing_found(analyse("for epoch in range(3):\n    train_step()\n    print(epoch, thing)\n"))
    assert "train.py:3  thing" in error.message
    assert "[metrics.NAME]" in error.hint
    assert 'expression = "thing"' in error.hint  # and not the counter before it
    assert "no values" in explain_nothing_found(analyse("x = 1\n")).message
