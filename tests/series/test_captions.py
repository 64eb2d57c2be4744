"""The words around the numbers of a log: which belong to a number, and what a number is by how it is written."""

import pytest
from written import captioned, named

from deviate.series.captions import captions_of
from deviate.series.lines import read_lines


def forms(log: str) -> list[tuple[float, str]]:
    return [(value, caption.form) for value, caption in captioned(log)]


def texts(log: str) -> list[tuple[float, str]]:
    """Values and spreads with their words."""
    return [(value, caption.text) for value, caption in captioned(log) if caption.form in ("value", "spread")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Epoch [1/5] train_loss: .5 val_IoU: .4", [(0.5, "train_loss"), (0.4, "val_IoU")]),
        ("Train Epoch: 3 [640/60000 (1%)]\tLoss: 0.25", [(0.25, "train Loss")]),
        ("epoch 1, train: loss 0.5, acc 0.6, val: loss 0.4, acc 0.7",
         [(0.5, "train loss"), (0.6, "train acc"), (0.4, "val loss"), (0.7, "val acc")]),
        ("[Train] Loss: 0.5 Acc: 0.6 [Val] Loss: 0.4 Acc: 0.7",
         [(0.5, "Train Loss"), (0.6, "Train Acc"), (0.4, "Val Loss"), (0.7, "Val Acc")]),
        ("{'train': {'loss': 0.5, 'acc': 0.6}, 'test': {'loss': 0.4, 'acc': 0.7}}",
         [(0.5, "train loss"), (0.6, "train acc"), (0.4, "test loss"), (0.7, "test acc")]),
        ("Best val acc: 85.6% (epoch 3)", [(85.6, "Best val acc")]),
        ("success rate of the greedy policy: 0.675", [(0.675, "success rate of the greedy policy")]),
        ("Genauigkeit auf Testdaten: 0.82", [(0.82, "Genauigkeit auf Testdaten")]),
        ("2024-01-05 10:20:30,123 INFO val loss 0.123", [(0.123, "INFO val loss")]),
        ("[12] train-rmse:0.5 test-rmse:0.6", [(0.5, "train-rmse"), (0.6, "test-rmse")]),
        ("Top-1 accuracy: 71.2%, Top-5: 90.1%", [(71.2, "Top-1 accuracy"), (90.1, "Top-5")]),
        ("loss=0.5 acc=0.7", [(0.5, "loss"), (0.7, "acc")]),
        ("Evaluation over 20 episodes: 6.8 (min -1.8)",
         [(6.8, "Evaluation over 20 episodes"), (-1.8, "evaluation Evaluation over 20 episodes min")]),
        ("acc 0.91 (best 0.93), loss 0.5 (avg: 0.6)",
         [(0.91, "acc"), (0.93, "acc best"), (0.5, "loss"), (0.6, "loss avg")]),
        ("F1 on test at threshold 0.30: 0.76", [(0.76, "F1 on test at threshold")]),
        ("%WER 4.1 [ 22 / 512, 0 ins, 30 del, 19 sub ] test_clean", [(4.1, "test_clean %WER")]),
        ("Total 500 samples, acc 0.9", [(0.9, "acc")]),
        ("92.3% accuracy on test set", [(92.3, "accuracy on test set")]),
        ("0.93 accuracy, 0.51 loss", [(0.93, "accuracy"), (0.51, "loss")]),
        ("Training until validation scores don't improve for 10 rounds", []),
        ("[1] Standard errors assume nothing", []),
        ("acc 0.91 (loss 0.5)", [(0.91, "acc"), (0.5, "loss")]),
        ("load took 12.5 msec (total = 0.61 sec)", [(12.5, "load took"), (0.61, "load took total")]),
        ("Robust accuracy (PGD-5, eps=0.1): 0.56", [(0.56, "Robust accuracy PGD-5 eps 0.1")]),
        ("Distilled student: test accuracy 63.5%", [(63.5, "Distilled student test accuracy")]),
        ("BLEU = 27.3 58.1/32.0/20.9/14.0 (BP = 0.95)", [(27.3, "BLEU"), (0.95, "BP")]),
    ],
)  # fmt: skip
def test_a_value_has_the_words_before_it(line: str, expected: list[tuple[float, str]]) -> None:
    assert texts(line) == expected


def test_of_a_count_its_size_and_their_share_the_share_is_the_value() -> None:
    line = "Test set: Average loss: 0.0434, Accuracy: 9912/10000 (99%)"
    assert forms(line) == [(0.0434, "value"), (9912, "value"), (10000, "size"), (99, "value")]
    assert [caption.suffix for _, caption in captioned(line)] == ["", "count", "", ""]
    assert texts(line)[-1] == (99, "Test set Accuracy")
    assert forms("Test Accuracy: 12/20") == [(12, "value"), (20, "size")]


@pytest.mark.parametrize("line", ["CV AUC: .98 +/- .01", "CV AUC: 0.98 ± 0.01", "CV AUC 0.98 +- 0.01 (5 folds)"])
def test_a_spread_is_told_from_its_value(line: str) -> None:
    (value, caption), (spread, beside) = captioned(line)[:2]
    assert (value, caption.form, caption.suffix) == (0.98, "value", "")
    assert (spread, beside.form, beside.suffix, beside.own) == (0.01, "spread", "sd", "CV AUC")


def test_a_mean_in_parentheses_is_no_report_of_the_value() -> None:
    assert named("Loss 0.5 (0.6) Acc 70.1 (69.2)") == {
        "loss": [0.5], "loss_avg": [0.6], "acc": [70.1], "acc_avg": [69.2],
    }  # fmt: skip


def test_a_number_of_examples_in_parentheses_is_a_size() -> None:
    assert forms("loss 0.61 (400 samples)") == [(0.61, "value"), (400, "size")]


def test_lines_that_count_the_steps_of_a_pass_again_and_again_are_progress() -> None:
    passes = "Test: [ 0/8] Acc@1  87.50 (87.50)\nTest: [ 5/8] Acc@1 100.00 (91.93)\n"
    assert [caption.is_progress for value, caption in captioned(passes * 2) if value > 80] == [True] * 8
    assert not any(caption.is_progress for _, caption in captioned(passes))
    assert not any(caption.is_progress for _, caption in captioned("Epoch 1/2: acc 0.5\nEpoch 2/2: acc 0.6\n" * 2))


def test_what_is_drawn_over_has_no_words() -> None:
    assert forms("1/2 loss: 0.5\r2/2 loss: 0.4 - acc: 0.75\n")[1:] == [
        (2, "size"), (0.5, "size"), (2, "counter"), (2, "counter"), (0.4, "value"), (0.75, "value"),
    ]  # fmt: skip


def test_numbers_without_words_are_cells() -> None:
    assert forms("[[12  3]\n [ 4 11]]") == [(12, "cell"), (3, "cell"), (4, "cell"), (11, "cell")]
    assert {form for _, form in forms("Dice per class: 0.9 0.8 0.7")} == {"cell"}


# Integers.


def test_integers_that_come_again_label() -> None:
    log = "".join(f"reward env {env}: {step}.{env}\n" for step in range(3) for env in range(2))
    assert named(log) == {"reward_env_0": [0.0, 1.0, 2.0], "reward_env_1": [0.1, 1.1, 2.1]}


def test_integers_of_parts_label_even_where_each_comes_once() -> None:
    log = "".join(f"class {label} IoU 0.{label}5\n" for label in range(4))
    assert list(named(log)) == [f"class_{label}_iou" for label in range(4)]


@pytest.mark.parametrize(
    "form", ["step {}: loss {}", "iter {} loss {}", "Epoch {}/300 loss {}", "[{}/300] loss {}", "Epoch: {} | loss {}"]
)
def test_integers_that_count_do_not_label(form: str) -> None:
    assert named("\n".join(form.format(100 * step, step + 0.5) for step in range(1, 4))) == {"loss": [1.5, 2.5, 3.5]}


def test_integers_that_rise_once_count_whatever_they_are_called() -> None:
    log = "".join(f"visited {100 * number} loss: {number}.5\n" for number in range(1, 5))
    assert list(named(log).values()) == [[1.5, 2.5, 3.5, 4.5]]


def test_what_counts_trainings_is_told() -> None:
    log = "Fold 1 AUC: 0.91\nFold 2 AUC: 0.92\nFold 3 AUC: 0.93\nMean AUC: 0.92\n"
    assert [(value, caption.trainings) for value, caption in captioned(log) if caption.form == "value"] == [
        (0.91, "fold"), (0.92, "fold"), (0.93, "fold"), (0.92, ""),
    ]  # fmt: skip
    assert {caption.trainings for _, caption in captioned("fold 1 epoch 1 loss 0.5\nfold 1 epoch 2 loss 0.4\n")} == {""}


# Headings.


@pytest.mark.parametrize(
    "log",
    [
        "Train stats:\n  loss: 0.5\n  acc: 0.6\nTest stats:\n  loss: 0.4\n  acc: 0.7\n",
        "Train stats:\nloss: 0.5\nacc: 0.6\n\nTest stats:\nloss: 0.4\nacc: 0.7\n",
        "=== Train ===\nloss: 0.5\nacc: 0.6\n=== Test ===\nloss: 0.4\nacc: 0.7\n",
        "train:\n{\n  'loss': 0.5,\n  'acc': 0.6\n}\ntest:\n{\n  'loss': 0.4,\n  'acc': 0.7\n}\n",
    ],
)
def test_lines_stand_under_their_heading(log: str) -> None:
    assert named(log) == {"train_loss": [0.5], "train_acc": [0.6], "test_loss": [0.4], "test_acc": [0.7]}


def test_a_heading_ends_at_a_blank_line_and_where_steps_are_counted() -> None:
    assert named("Test results:\nacc: 0.7\n\nloss: 0.4\n") == {"test_acc": [0.7], "loss": [0.4]}
    assert named("Training on train data:\nEpoch 1 acc: 0.7\n") == {"acc": [0.7]}
    assert named("Loading the model\nacc: 0.7\n") == {"acc": [0.7]}


# Tables.

REPORT = """\
              precision    recall  f1-score   support

           0       0.90      0.91      0.92        10
           1       0.80      0.81      0.82        12

    accuracy                           0.85        22
   macro avg       0.86      0.87      0.88        22
weighted avg       0.83      0.84      0.89        22
"""


def test_of_a_classification_report_each_number_has_its_row_and_column() -> None:
    found = {value: caption for value, caption in captioned(REPORT) if not caption.is_whole}
    places = {value: (caption.row, caption.column) for value, caption in found.items()}
    assert (places[0.9], places[0.82]) == (("0", "precision"), ("1", "f1-score"))
    assert (places[0.85], places[0.87]) == (("accuracy", "f1-score"), ("macro avg", "recall"))
    names = named(REPORT)
    assert (names["accuracy"], names["1_recall"], names["weighted_avg_f1_score"]) == ([0.85], [0.81], [0.89])


@pytest.mark.parametrize(
    "log",
    [
        "epoch  loss   acc\n    1   0.5   0.6\n    2   0.4   0.7\n",
        "epoch,loss,acc\n1,0.5,0.6\n2,0.4,0.7\n",
        "epoch loss acc\n1 0.5 0.6\n2 0.4 0.7\n",
        "| epoch | loss | acc |\n|-------|------|-----|\n|     1 |  0.5 | 0.6 |\n|     2 |  0.4 | 0.7 |\n",
        "│ epoch │ loss │ acc │\n│───────│──────│─────│\n│     1 │  0.5 │ 0.6 │\n│     2 │  0.4 │ 0.7 │\n",
    ],
)
def test_rows_under_a_header_have_its_words_and_its_counter(log: str) -> None:
    assert [form for _, form in forms(log)] == ["counter", "value", "value"] * 2
    assert named(log) == {"loss": [0.5, 0.4], "acc": [0.6, 0.7]}


def test_rows_with_names_are_told_apart_by_them() -> None:
    log = "       acc    f1\nsvm   0.5   0.6\nrf    0.4   0.7\n"
    assert named(log) == {"svm_acc": [0.5], "svm_f1": [0.6], "rf_acc": [0.4], "rf_f1": [0.7]}


def test_a_table_ends_with_its_rows() -> None:
    log = "epoch  loss   acc\n    1   0.5   0.6\n\nfinal acc: 0.9\n"
    assert named(log) == {"loss": [0.5], "acc": [0.6], "final_acc": [0.9]}


def test_a_column_of_spreads_holds_spreads() -> None:
    log = "model      mean    std\nsvm       0.911  0.012\nforest    0.933  0.014\n"
    assert [form for _, form in forms(log)] == ["value", "spread"] * 2


@pytest.mark.parametrize("log", [REPORT, "a 1 2 3\n\nb: 4 (5) +- 6 / 7 %\n| 8 |\n", "nan\n" * 3, "= 1 : 2 [3] {4}\n"])
def test_every_number_of_every_line_has_a_caption(log: str) -> None:
    lines = list(read_lines(log))
    assert [len(captions) for captions in captions_of(lines)] == [len(line.numbers) for line in lines]


def test_what_an_object_is_made_of_are_attributes() -> None:
    log = "Adam(lr=0.1, betas=(0.9, 0.99)) loss 0.5\nNode(key=3, bias=-0.5)\nf1(macro) 0.7 score=0.8 mean(0.3)\n"
    found = [(value, caption.is_attribute) for value, caption in captioned(log)]
    assert [value for value, is_attribute in found if is_attribute] == [0.1, 0.9, 0.99, 3, -0.5]
    assert [value for value, is_attribute in found if not is_attribute] == [0.5, 0.7, 0.8, 0.3]


def test_the_share_behind_a_count_and_its_size_is_the_result() -> None:
    found = [(value, caption.suffix) for value, caption in captioned("test score: 32/500 = 6.40% correct\n")]
    assert found == [(32, "count"), (500, ""), (6.4, "")]


def test_a_heading_that_names_a_measure_names_the_one_number_below_it() -> None:
    log = "5-fold cross-validation accuracy\n--------\n[0.77 0.83 0.94]\n0.8025 (+/- 0.17)\n"
    assert texts(log) == [(value, "5 fold cross validation accuracy") for value in (0.8025, 0.17)]


def test_training_is_what_a_script_does_unless_it_names_other_data() -> None:
    block = "=====\nkNN\n_____\nTraining:\nKNN(n_neighbors=10)\naccuracy: 0.94\n"
    assert texts(block)[-1] == (0.94, "knn accuracy")
    assert texts("Training:\nloss: 0.5\nValidation:\nloss: 0.6\n") == [
        (0.5, "training loss"), (0.6, "validation loss"),
    ]  # fmt: skip


def test_cells_with_a_spread_have_the_column_of_their_value() -> None:
    log = "| Method | AUROC       | AUPRC       |\n|:-------|:------------|:------------|\n"
    found = captioned(log + "| LOF    | 93.1 ± 0.50 | 94.4 ± 0.84 |\n")
    assert [(value, caption.row, caption.column, caption.suffix) for value, caption in found] == [
        (93.1, "LOF", "AUROC", ""), (0.5, "LOF", "AUROC", "sd"),
        (94.4, "LOF", "AUPRC", ""), (0.84, "LOF", "AUPRC", "sd"),
    ]  # fmt: skip


def test_two_values_behind_the_same_words_are_two_series() -> None:
    found = captioned("D(G(z)): 0.47 / 0.46\nBLEU = 69.8 90.1/75.2/60.3\n")
    assert [(value, caption.form, caption.suffix) for value, caption in found][:2] == [
        (0.47, "value", ""), (0.46, "value", "second"),
    ]  # fmt: skip
    assert [caption.form for _, caption in found][2:] == ["value", "cell", "cell", "cell"]
