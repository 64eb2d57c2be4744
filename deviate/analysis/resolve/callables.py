"""Names of callables, attributes and variables from which the kind of their value follows."""

from deviate.model.metric_vocabulary import word_set

# Points in time: standard library, TensorFlow.
CLOCKS = word_set(
    "time.time time.perf_counter time.monotonic time.process_time time.thread_time time.time_ns time.perf_counter_ns "
    "time.monotonic_ns timeit.default_timer time.clock datetime.datetime.now datetime.now datetime.datetime.today "
    "datetime.datetime.utcnow tensorflow.timestamp"
)
CLOCK_NAMES = ("perf_counter", "default_timer")
STOPWATCHES = word_set("elapsed elapsed_time elapsed_seconds")
# Names of times, places and kinds.
TEXTS = word_set(
    "time.ctime time.asctime os.path.join os.path.basename os.path.abspath os.getcwd builtins.type os.environ.get "
    "os.getenv builtins.input sys.version platform.node socket.gethostname pathlib.Path json.dumps pprint.pformat"
)
# Functions that format their argument, or return an object that prints as text, also for durations.
WRITING = word_set(
    "builtins.str builtins.repr builtins.format time.strftime time.gmtime datetime.timedelta timedelta strftime"
)
SIZES = frozenset({"builtins.len", "os.cpu_count", "torch.numel"})
SIZE_PARTS = word_set(
    "shape size ndim numel nelement dim num_examples batch_size num_samples num_parameters count_params"
)
PARSERS = ("parse_args", "parse_known_args", "load_config", "safe_load", "parse_args_into_dataclasses")
SETTINGS = word_set("args opt opts config cfg conf hparams hp flags options settings hyperparams configs argv")
TEXT_PARTS = word_set("name __name__ device dtype __class__ path filename isoformat join format upper lower")
MEMORY_CALLS = word_set("memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_info")
# Schedulers of torch and timm.
RATE_CALLS = ("get_last_lr", "get_lr", "get_epoch_values")
# Functions and methods whose result has the kind of their first argument or of their object.
PASSING = word_set(
    "round float int abs sum min max mean average median std var sqrt exp log log2 log10 array asarray to_float "
    "reduce_mean reduce_sum square power cast tensor as_tensor item detach cpu numpy data tolist double half "
    "float32 norm squeeze reshape view flatten result compute eval clone copy total_seconds device_get "
    "block_until_ready stack nanmean divmod list tuple sorted reversed fsum maximum minimum"
)
JOINING = ("max", "min", "maximum", "minimum")
"""Those of them whose result depends on all arguments."""

# Constructors of torch whose object is the number passed to them.
NUMBERS = ("Tensor", "FloatTensor", "Variable", "Decimal", "Fraction")
ENUMERATIONS = ("enumerate", "trange", "range", "arange", "count", "xrange")
WRAPPINGS = ("tqdm", "track", "list", "tuple", "reversed", "sorted", "iter")
# Libraries of metrics: their functions, and the objects of their classes.
MEASURES = (
    "torchmetrics.", "sklearn.metrics.", "tensorflow.keras.metrics.", "keras.metrics.", "tf_keras.metrics.",
    "tensorflow.metrics.", "tensorflow.compat.v1.metrics.", "evaluate.load", "datasets.load_metric", "seqeval.",
    "sacrebleu.", "nltk.translate.", "rouge_score.", "ignite.metrics.", "monai.metrics.", "torcheval.metrics.",
    "clu.metrics.", "flax.nnx.metrics.", "flax.nnx.MultiMetric", "lpips.", "pytorch_msssim.", "skimage.metrics.",
    "scipy.stats.pearsonr", "scipy.stats.spearmanr", "scipy.stats.kendalltau", "pytorch_lightning.metrics.",
)  # fmt: skip
