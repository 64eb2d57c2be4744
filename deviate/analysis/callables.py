"""Names of callables, attributes and variables that tell by themselves what their value is."""

from .tree import listed

CLOCKS = listed(
    "time.time time.perf_counter time.monotonic time.process_time time.time_ns time.perf_counter_ns "
    "timeit.default_timer time.clock datetime.datetime.now datetime.now datetime.datetime.today "
    "tensorflow.timestamp"
)
TEXTS = listed(
    "time.strftime time.ctime time.asctime os.path.join os.path.basename os.path.abspath os.getcwd builtins.str "
    "builtins.type os.environ.get os.getenv builtins.input sys.version platform.node socket.gethostname "
    "pathlib.Path builtins.repr json.dumps pprint.pformat"
)
SIZES = frozenset({"builtins.len", "os.cpu_count", "torch.numel"})
PARSERS = ("parse_args", "parse_known_args", "load_config", "safe_load", "parse_args_into_dataclasses")
SETTINGS = listed("args opt opts config cfg conf hparams hp flags options settings hyperparams configs argv")
SIZE_PARTS = listed("shape size ndim numel nelement dim num_examples batch_size num_samples")
TEXT_PARTS = listed("name __name__ device dtype __class__ path filename strftime isoformat join format upper lower")
MEMORY_CALLS = listed("memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_info")
PASSING = listed(
    "round float int abs sum min max mean average median std var sqrt exp log log2 log10 array asarray to_float "
    "reduce_mean reduce_sum square power cast tensor as_tensor item detach cpu numpy data tolist double half "
    "float32 norm squeeze reshape view flatten result compute eval clone copy total_seconds device_get "
    "block_until_ready stack nanmean"
)
ENUMERATIONS = ("enumerate", "trange", "range", "arange", "count", "xrange")
