"""Positive and no-op snippets of the hazards of timing."""

from collections.abc import Callable

import pytest

from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]
IMPORTS = """\
import asyncio, random, time, threading, ray, joblib, torch
import numpy as np, multiprocessing as mp, tensorflow as tf, tensorflow.compat.v1 as tf1
import torch.multiprocessing
from concurrent.futures import ThreadPoolExecutor, as_completed
from multiprocessing import Pool
from gensim.models import Word2Vec, doc2vec
from sklearn.ensemble import RandomForestClassifier
def drawn(x):
    return inner(x)
def inner(x):
    return x + np.random.rand()
def flipped(x):
    return tf.image.random_flip_left_right(x)
def plain(x):
    return x
"""
OP_DETERMINISM = "tf.config.experimental.enable_op_determinism()\n"


def named(analysis: Analysis) -> list[str]:
    return [hazard.name for hazard in analysis.hazards]


@pytest.mark.parametrize(
    "text",
    [
        "threading.Thread(target=drawn, args=(1,)).start()",
        "work = lambda: drawn(1)\nthreading.Thread(target=work).start()",
        "with ThreadPoolExecutor() as pool:\n    rows = list(pool.map(drawn, xs))",
        "pool = ThreadPoolExecutor()\nfuture = pool.submit(drawn, 1)",
        "with Pool(4) as pool:\n    rows = pool.map(drawn, xs)",
        "pool = mp.Pool()\nrows = pool.starmap(drawn, xs)",
        "data = tf.data.Dataset.range(9).map(drawn, num_parallel_calls=tf.data.AUTOTUNE)",
        "data = tf.data.Dataset.range(9).map(lambda x: (flipped(x), 1), num_parallel_calls=4)",
        "data = tf.data.Dataset.range(9).map(lambda x: x + tf.random.normal([]), num_parallel_calls=4)",
    ],
)
def test_draws_in_threads_pools_and_parallel_maps_are_found(analyse: Analyse, text: str) -> None:
    assert named(analyse(f"{IMPORTS}{text}\n")) == ["parallel-draws"]


SHARED = """\
import threading
import numpy as np
from concurrent.futures import ThreadPoolExecutor
weights, n, lock = np.zeros(3), 0, threading.Lock()
"""
WORKER = """\
class Worker(threading.Thread):
    def __init__(self, weights):
        super().__init__()
        self.weights, self.n = weights, 0
    def run(self):
        self.{} += 1
Worker(weights).start()
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def work(step):\n    weights[:] -= step\nthreading.Thread(target=work, args=(1,)).start()\n", [6]),
        ("def work(step):\n    global n\n    n += step\nThreadPoolExecutor(2).submit(work, 1)\n", [7]),
        (WORKER.format("weights"), [10]),
        (WORKER.format("n"), []),
        ("def work(step):\n    n = 0\n    n += step\nthreading.Thread(target=work, args=(1,)).start()\n", []),
        ("def work():\n    with lock:\n        weights[:] -= 1\nthreading.Thread(target=work).start()\n", []),
        ("def work(step):\n    weights[:] -= step\nwork(1)\n", []),
    ],
)
def test_what_threads_update_without_a_lock_is_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    assert [(it.name, it.line) for it in analyse(SHARED + text).hazards] == [("thread-updates", at) for at in expected]


@pytest.mark.parametrize(
    "text",
    [
        "threading.Thread(target=plain, args=(1,)).start()",
        "with Pool(4) as pool:\n    rows = pool.map(plain, xs)",
        "rows = list(map(drawn, xs))",
        "data = tf.data.Dataset.range(9).map(drawn)",
        "data = tf.data.Dataset.range(9).map(plain, num_parallel_calls=4)",
        f"{OP_DETERMINISM}data = tf.data.Dataset.range(9).map(drawn, num_parallel_calls=4)",
    ],
)
def test_work_that_does_not_draw_or_is_done_in_order_is_left_out(analyse: Analyse, text: str) -> None:
    assert not analyse(f"{IMPORTS}{text}\n").hazards


@pytest.mark.parametrize(
    "text",
    [
        "with Pool() as pool:\n    for row in pool.imap_unordered(plain, xs):\n        rows.append(row)\nuse(rows[1:])",
        "for future in as_completed(futures):\n    rows.append(future.result())\nuse(rows[1:])",
        "async def run():\n    for task in asyncio.as_completed(tasks):\n        rows.append(task)\n    use(rows[1:])",
        "rows = joblib.Parallel(n_jobs=2, return_as='generator_unordered')(jobs)",
        "loader = torch.utils.data.DataLoader(data, num_workers=2, in_order=False)",
        "data = tf.data.Dataset.range(9).map(plain, num_parallel_calls=4, deterministic=False)",
        "options = tf.data.Options()\noptions.experimental_deterministic = False",
    ],
)
def test_results_in_the_order_in_which_they_are_done_are_found(analyse: Analyse, text: str) -> None:
    assert named(analyse(f"{IMPORTS}{text}\n")) == ["unordered-results"]


@pytest.mark.parametrize(
    "text",
    [
        "with Pool() as pool:\n    rows = list(pool.imap(plain, xs))\nuse(rows[1:])",
        "for future in as_completed(futures):\n    future.result()",
        "for future in as_completed(futures):\n    rows[futures[future]] = future.result()",
        "with Pool() as pool:\n    rows = sorted(pool.imap_unordered(plain, xs))",
        "data = tf.data.Dataset.range(9).map(plain, num_parallel_calls=4)",
        "torch.backends.cudnn.enabled = False",
        "x, y = tf1.train.batch([a, b], 32, num_threads=1)",
    ],
)
def test_results_in_the_order_of_the_tasks_are_left_out(analyse: Analyse, text: str) -> None:
    assert not analyse(f"{IMPORTS}{text}\n").hazards


@pytest.mark.parametrize(
    "text",
    [
        "for step in range(9):\n    train()\n    if time.time() - start > 60:\n        break",
        "while time.perf_counter() - start < limit:\n    train()",
        "while True:\n    elapsed = time.time() - start\n    if step > 3 and elapsed > limit:\n        break",
    ],
)
def test_training_that_ends_with_its_time_is_found(analyse: Analyse, text: str) -> None:
    assert named(analyse(f"{IMPORTS}{text}\n")) == ["time-limit"]


@pytest.mark.parametrize(
    "text",
    [
        "for step in range(9):\n    if time.time() - last > 60:\n        print(step)",
        "while time.time() < deadline:\n    time.sleep(1)",
        "elapsed = time.time() - start\nif elapsed > limit:\n    print('slow')",
        "for step in range(9):\n    elapsed = time.time() - start\n    if loss > limit:\n        break",
    ],
)
def test_clocks_that_end_nothing_are_left_out(analyse: Analyse, text: str) -> None:
    assert not analyse(f"{IMPORTS}{text}\n").hazards


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("begin = time.time()\ntrain()\nif time.time() - begin > 60:\n    rate = rate / 2", 3),
        ("now = time.time_ns()\nfor step in range(3):\n    if now % 2:\n        w += 1", 3),
        ("def slow(t):\n    if t > 3:\n        skip()\nslow(time.perf_counter())", 2),
    ],
)
def test_conditions_on_the_clock_are_found(analyse: Analyse, text: str, line: int) -> None:
    found = [hazard.line for hazard in analyse(IMPORTS + text).hazards if hazard.name == "clock"]
    assert found == [IMPORTS.count("\n") + line]


@pytest.mark.parametrize(
    "text",
    [
        "last = time.time()\nif time.time() - last > 10:\n    print('alive')\n    last = time.time()",
        "last = time.time()\nif time.time() - last > 600:\n    save_checkpoint(model)",
        "for step in range(9):\n    if time.time() > end:\n        break",
        "took = time.time()\nspeed = 3 / took if took else 0\nprint(speed)",
        "if epoch > 3:\n    begin = time.time()",
    ],
)
def test_conditions_that_report_save_or_end_a_loop_are_no_conditions_on_the_clock(analyse: Analyse, text: str) -> None:
    assert "clock" not in {hazard.name for hazard in analyse(IMPORTS + text).hazards}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model.share_memory()", ["shared-memory"]),
        ("state = torch.zeros(3).share_memory_()", ["shared-memory"]),
        ("strategy = tf.distribute.experimental.ParameterServerStrategy(r)", ["shared-memory"]),
        ("strategy = tf.distribute.MirroredStrategy()", []),
        ("class Meter:\n    def share_memory(self): pass\nMeter().share_memory()", []),
        ("with tf1.Session() as session: pass", ["graph-session"]),
        ("session = tf.compat.v1.InteractiveSession()", ["graph-session"]),
        ("devices = tf1.Session().list_devices()", []),
        ("session = requests.Session()", []),
        ("model = Word2Vec(texts, vector_size=8)", ["word-vectors"]),
        ("model = doc2vec.Doc2Vec(texts, workers=n)", ["word-vectors"]),
        ("model = Word2Vec(texts, workers=1)", []),
        ("forest = RandomForestClassifier(n_jobs=-1)", ["forest-threads"]),
        ("forest = RandomForestClassifier(n_jobs=1)", []),
    ],
)
def test_weights_that_several_write_and_sessions_are_found(analyse: Analyse, text: str, expected: list[str]) -> None:
    assert named(analyse(f"{IMPORTS}{text}\n")) == expected


BOOSTING = "import lightgbm, xgboost, catboost\nfrom multiprocessing.pool import ThreadPool\nimport os\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("model = lightgbm.LGBMClassifier(random_state=1)", [1]),
        ("model = lightgbm.train({'objective': 'binary'}, data)", [1]),
        ("params = {'objective': 'binary'}\nmodel = lightgbm.train(params, data)", [2]),
        ("model = xgboost.XGBClassifier(booster='gblinear')", [1]),
        ("model = xgboost.train({'booster': 'gblinear'}, data)", [1]),
        ("model = catboost.CatBoostClassifier(task_type='GPU')", [1]),
        ("model = lightgbm.LGBMClassifier(deterministic=True)", []),
        ("model = lightgbm.LGBMClassifier(n_jobs=1)", []),
        ("model = lightgbm.train({'force_row_wise': True}, data)", []),
        ("model = lightgbm.train(params, data)", []),  # nobody knows what they are
        ("model = xgboost.XGBClassifier(n_jobs=4)", []),
        ("model = xgboost.XGBClassifier(booster='gblinear', updater='coord_descent')", []),
        ("model = catboost.CatBoostClassifier(thread_count=4)", []),
    ],
)
def test_boosting_whose_threads_decide_is_found(analyse: Analyse, text: str, expected: list[int]) -> None:
    found = [it.line - BOOSTING.count("\n") for it in analyse(BOOSTING + text).hazards if it.name == "boosting-threads"]
    assert found == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parts = np.array_split(x, os.cpu_count())", ["divided-work"]),
        ("n = os.cpu_count()\nsize = len(x) // n", ["divided-work"]),
        ("pool = ThreadPool(os.cpu_count())", []),
        ("n = os.cpu_count()\nloader = torch.utils.data.DataLoader(data, num_workers=n)", []),
    ],
)
def test_work_that_the_number_of_processors_divides_is_found(analyse: Analyse, text: str, expected: list[str]) -> None:
    assert named(analyse(f"{IMPORTS}{BOOSTING}{text}\n")) == expected
