"""The sample of the first DEVIATE: where its analyzer saw a loop and metrics, ours sees them, and what that missed."""

from collections.abc import Callable

import pytest

from deviate.analysis.resolve.message_items import Field, decimals, percent_fields
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]

TRAINING = """
with tf.Session() as sess:
    spent = 0.0
    for ii in range(steps):
        x, y = data.next(size)
        nat, adv = {model.x: x, model.y: y}, {model.x: attack.perturb(x, y, sess), model.y: y}
        if ii % every == 0:
            nat_acc = sess.run(model.accuracy, feed_dict=nat)
            adv_acc = sess.run(model.accuracy, feed_dict=adv)
            print('Step {}: ({})'.format(ii, datetime.now()))
            print('    training nat accuracy {:.4}%'.format(nat_acc * 100))
            print('    training adv accuracy {:.4}%'.format(adv_acc * 100))
            if ii != 0:
                print('    {} examples per second'.format(every * size / spent))
                spent = 0.0
        start = timer()
        sess.run(train_step, feed_dict=adv)
        spent += timer() - start
"""
"""In the shape of its training script, in fewer lines."""


def test_the_loop_and_both_accuracies_are_found_and_the_pace_too(analyse: Analyse) -> None:
    analysis = analyse("from datetime import datetime\nfrom timeit import default_timer as timer\n" + TRAINING)
    loop = analysis.main_loop
    assert loop is not None
    assert (loop.line, loop.variable) == (6, "ii")
    assert [(it.expression, it.line, it.role) for it in analysis.metrics] == [
        ("nat_acc * 100", 13, "quality"),
        ("adv_acc * 100", 14, "quality"),
        ("every * size / spent", 16, "time"),
    ]
    assert [it.expression for it in analysis.rejected] == ["ii", "datetime.now()"]


def test_an_evaluation_has_four_metrics_and_no_loop(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def evaluate_checkpoint(name):
            avg_xent_nat, avg_xent_adv, acc_nat, acc_adv = measured(name)
            print('natural: {:.2f}%'.format(100 * acc_nat))
            print('adversarial: {:.2f}%'.format(100 * acc_adv))
            print('avg nat loss: {:.4f}'.format(avg_xent_nat))
            print('avg adv loss: {:.4f}'.format(avg_xent_adv))
        evaluate_checkpoint(latest)
        """
    )
    assert analysis.main_loop is None
    assert [(it.expression, it.line) for it in analysis.metrics] == [
        ("100 * acc_nat", 4),
        ("100 * acc_adv", 5),
        ("avg_xent_nat", 6),
        ("avg_xent_adv", 7),
    ]


@pytest.mark.parametrize(("template", "digits"), [("%d", None), ("%s", None), ("%g", 6), ("%e", 6), ("%.3e", 3)])
def test_whole_numbers_and_text_are_no_floats_and_exponents_are(template: str, digits: int | None) -> None:
    """The last three the first DEVIATE passed over."""
    (field,) = [part for part in percent_fields(template) if isinstance(part, Field)]
    assert decimals(field.spec) == digits


def test_a_learning_rate_printed_as_a_float_is_no_quality_metric(analyse: Analyse) -> None:
    text = "for epoch in range(3):\n    loss.backward()\n    print('epoch %d lr %.5f loss %.4f' % (epoch, lr, loss))\n"
    assert {it.expression: it.role for it in analyse(text).metrics if it.role == "quality"} == {"loss": "quality"}
