import ast
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from deviate.analysis.analyze import analyze
from deviate.errors import InputError
from deviate.model.analysis import Analysis, Span

Analyse = Callable[[str], Analysis]

LOOP = """
import logging
logger = logging.getLogger(__name__)
for epoch in range(10):
    acc = train_step(epoch)
    {}
"""


def between(text: str, span: Span) -> str:
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column]
    lines[0] = lines[0][span.column :]
    return "\n".join(lines)


def same(left: str, right: str) -> bool:
    return ast.dump(ast.parse(f"({left}\n)", mode="eval")) == ast.dump(ast.parse(f"({right}\n)", mode="eval"))


@pytest.mark.parametrize(
    "statement",
    [
        'print(f"epoch {epoch} acc {acc:.4f}")',
        'print(f"epoch {epoch} {acc=:.4f}")',
        'print("epoch %d acc %.4f" % (epoch, acc))',
        'print("epoch", epoch, "acc %.4f" % acc)',
        'print("acc %(acc).4f after %(epoch)d" % {"acc": acc, "epoch": epoch})',
        'print("epoch {} acc {:.4f}".format(epoch, acc))',
        'print("epoch {0} acc {1:{width}.4f}".format(epoch, acc, width=8))',
        'print("acc {a:.4f}".format(a=acc), "epoch", epoch)',
        'print("epoch", epoch, "acc", acc)',
        'print("epoch", epoch, "acc", round(acc, 4))',
        'print("epoch " + str(epoch) + " acc " + format(acc, ".4f"))',
        'print("epoch " + str(epoch) + " acc " + str(acc))',
        'print("epoch %d" % epoch + f" acc {round(acc, 3)}".ljust(20))',
        'print("\\t".join([str(epoch), f"acc {acc:.3f}"]))',
        'logger.info("epoch %d acc %.4f", epoch, acc)',
        'logging.info(f"epoch {epoch} acc {acc:.4f}")',
        'logger.log(logging.INFO, "epoch %d acc %.4f", epoch, acc)',
        'message = f"epoch {epoch} acc {acc:.4f}"; print(message)',
        'print("epoch", epoch, "acc", acc, file=open("log.txt", "a"))',
    ],
)
def test_a_value_is_found_in_every_style_of_message_and_the_counter_beside_it_is_not(
    analyse: Analyse, statement: str
) -> None:
    analysis = analyse(LOOP.format(statement))
    assert [(metric.expression, metric.line) for metric in analysis.metrics] == [("acc", 6)]
    assert [item.expression for item in analysis.rejected if "counter" in item.reason] == ["epoch"]
    assert analysis.metrics[0].direction == "max"
    assert analysis.metrics[0].name == "acc"
    assert analysis.main_loop is not None
    assert (analysis.main_loop.line, analysis.main_loop.end_line, analysis.main_loop.variable) == (4, 6, "epoch")


def test_a_template_that_takes_attributes_is_tapped_at_its_callee_one_site_per_field(analyse: Analyse) -> None:
    text = LOOP.format(
        "losses = track(acc); "
        'print("{l.val:.4f} ({l.avg:.4f}) top {top[0]:.2f} of {n}".format(l=losses, top=acc, n=epoch))'
    )
    analysis = analyse(text)
    found = [(metric.expression, analysis.sites[metric.site or 0]) for metric in analysis.metrics]
    assert [expression for expression, _ in found] == ["losses.val", "losses.avg", "acc[0]"]
    assert [site.fields for _, site in found] == [("l.val",), ("l.avg",), ("top[0]",)]
    assert {site.form for _, site in found} == {"format"}
    assert len({site.span for _, site in found}) == 1
    assert between(text, found[0][1].span).endswith('of {n}".format')


def test_a_template_filled_from_locals_is_tapped_at_the_mapping(analyse: Analyse) -> None:
    analysis = analyse(LOOP.format('print("acc %(acc).4f" % locals())'))
    assert [metric.expression for metric in analysis.metrics] == ["acc"]
    assert [(site.form, site.fields) for site in analysis.sites] == [("mapping", ("acc",))]


def test_values_before_the_loop_and_in_a_branch_that_returns_are_rejected(analyse: Analyse) -> None:
    analysis = analyse(
        """
        def test(model):
            print("accuracy: %.2f" % accuracy(model))
        def main():
            print(f"first loss {loss_of(model):.3f}")
            if only_test:
                test(model)
                return
            for epoch in range(3):
                loss.backward()
                test(model)
            print(f"final loss {loss_of(model):.3f}")
        main()
        """
    )
    assert [(metric.name, metric.line, metric.path) for metric in analysis.metrics] == [
        ("accuracy", 3, ()),
        ("loss", 12, ()),
    ]
    assert [(item.line, item.reason.startswith("reported before the main loop")) for item in analysis.rejected] == [
        (5, True)
    ]


def test_a_function_that_nobody_calls_is_told_as_not_reached(analyse: Analyse) -> None:
    analysis = analyse(LOOP.format("pass") + 'def unused():\n    print(f"loss {loss:.3f}")\n')
    assert analysis.metrics == ()
    assert analysis.rejected[0].reason.startswith("not reached")


def test_an_evaluation_script_has_metrics_and_no_main_loop(analyse: Analyse) -> None:
    # Oracle O10: the evaluation script of the published tool has no loop and four metrics.
    analysis = analyse(
        """
        def evaluate_checkpoint(name):
            total_corr = 0
            total_xent = 0.
            for batch in range(n_batches):
                corr, xent = sess.run([model.corr, model.xent], feed_dict=feed(batch))
                print(f"{batch}: {corr}")
                total_corr += corr
                total_xent += xent
            acc = total_corr / n_examples
            avg_xent = total_xent / n_examples
            print("natural: {:.2f}%".format(100 * acc))
            print("avg nat loss: {:.4f}".format(avg_xent))
        evaluate_checkpoint("last")
        """
    )
    assert analysis.main_loop is None
    assert [metric.expression for metric in analysis.metrics] == ["100 * acc", "avg_xent"]


def test_the_loop_of_the_oracle_is_found_with_both_of_its_metrics(analyse: Analyse) -> None:
    # Oracle O11: continue and return in the loop change nothing in what is found.
    analysis = analyse(
        """
        def main():
            for epoch in range(6):
                print("loss %.4f" % (1 / (epoch + 1)))
                if epoch % 2:
                    continue
                acc = epoch / 10
                print("epoch %d acc %.4f" % (epoch, acc))
                if epoch == 4:
                    return
        main()
        """
    )
    assert analysis.main_loop is not None
    assert analysis.main_loop.line == 3
    assert "acc" in [metric.expression for metric in analysis.metrics]


def test_a_comment_opts_a_statement_out(analyse: Analyse) -> None:
    analysis = analyse(LOOP.format('print(f"acc {acc:.4f}")  # deviate: ignore'))
    assert analysis.metrics == ()
    assert analysis.sites == ()
    assert analysis.rejected[0].reason.startswith("ignored")


def test_site_numbers_are_unique_and_metrics_are_numbered_in_order(analyse: Analyse) -> None:
    analysis = analyse(LOOP.format('print(f"{epoch} {acc:.4f} {1 - acc:.4f}"); print("loss", loss)'))
    assert [site.id for site in analysis.sites] == list(range(len(analysis.sites)))
    assert [metric.id for metric in analysis.metrics] == list(range(len(analysis.metrics)))
    named = {metric.site for metric in analysis.metrics} | {item.site for item in analysis.rejected}
    assert named == {site.id for site in analysis.sites}


EXPRESSIONS = st.recursive(
    st.sampled_from(["loss", "acc", "m.avg", "d['k']", "f(x)", "x[0]", "(y := f(x))", "1.5", "v.item()", "[a, b][0]"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "*", "/", "-", "@", "and"]), inner).map(" ".join),
        inner.map(lambda text: f"({text})"),
        inner.map(lambda text: f"(lambda q: {text})(0)"),
        inner.map(lambda text: f"float({text})"),
        st.tuples(inner, inner).map(lambda pair: f"({pair[0]} if c else {pair[1]})"),
        inner.map(lambda text: f"sum(z for z in [{text}])"),
    ),
    max_leaves=5,
)
FRAMES = st.sampled_from(
    [
        "print({e})",
        "print('loss', ({e}), 'é', {e})",
        'print(f"größe {{({e})}} and loss {{ ({e}) :.3f}}")',
        'print(f"""loss\n{{({e}) = :.3f}}""")',
        "print('loss %.3f' % ({e}))",
        "print('loss %.3f %d' % (\n    {e},  # first\n    {e}))",
        "print('loss {{:.3f}} {{x}}'.format({e}, x=({e})))",
        "print('loss ' + str({e}) + format({e}, '.3f'))",
        "print('loss', round(({e}), 3))",
        "for k in ({e}), ({e}):\n    print('loss', k)",
        "while ({e}):\n    print('loss', {e})",
        "for k in (j for j in [{e}]):\n    print('loss', k)",
        "print('loss', (yield_of({e}), {e}))",
    ]
)


@given(EXPRESSIONS, FRAMES)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_span_holds_exactly_its_expression(tmp_path: Path, expression: str, frame: str) -> None:
    text = textwrap.dedent(frame.format(e=expression.replace("'", '"') if 'f"' not in frame else expression)) + "\n"
    try:
        compile(text, "train.py", "exec")
    except SyntaxError:
        return
    script = tmp_path / "train.py"
    script.write_text(text, encoding="utf-8")
    analysis = analyze(script, tmp_path)
    for site in analysis.sites:
        assert same(between(text, site.span), site.expression)
    for loop in analysis.loops:
        ast.parse(f"f(0, ({between(text, loop.span)}))")


def test_a_deep_sum_gets_an_answer(analyse: Analyse) -> None:
    with pytest.raises(InputError, match="nested too deeply"):
        analyse("x = " + " + ".join(["1"] * 4000) + "\nprint(x)\n")


def test_a_text_built_from_itself_is_taken_apart_once(analyse: Analyse) -> None:
    analysis = analyse(
        """
        for epoch in range(3):
            train_step()
            line = "epoch " + str(epoch)
            line = line + " loss " + str(loss)
            line += f" acc {acc:.3f}"
            print(line)
        """
    )
    assert [(metric.expression, metric.line) for metric in analysis.metrics] == [("loss", 5), ("acc", 6)]


def test_the_work_grows_with_the_file_and_not_with_its_square(
    analyse: Analyse,
) -> None:
    block = (
        "    x{0} = f(x{1})\n    print(f'epoch {{epoch}} loss {{x{0}:.3f}}')\n"
        "    for k in range(3):\n        y = x{0}\n"
    )
    head = "def f(a):\n    print('loss %.3f' % a)\n    return a\nfor epoch in range(3):\n    train_step()\n"
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    def work(n_blocks: int) -> int:
        nonlocal calls
        calls = 0
        text = head + "".join(block.format(number, number - 1) for number in range(1, n_blocks))
        sys.setprofile(count)
        try:
            analyse(text)
        finally:
            sys.setprofile(None)
        return calls

    work(20)
    assert work(400) < 6 * work(100)
