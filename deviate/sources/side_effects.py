"""Side effects: what all runs of a script share in the world outside, found in the source.

Tracker runs, uploads, data bases, fixed paths and ports; and the paths that a run writes inside its work copy.
"""

import re
from collections.abc import Callable, Iterator

import libcst as cst

from deviate.analysis.resolve.tree import constant_text, keywords, last_name, positional, walk
from deviate.model.analysis import SideEffect, SideEffectKind
from deviate.model.metric_vocabulary import word_set
from deviate.sources.destinations import Destinations
from deviate.sources.patterns import constant
from deviate.sources.survey import Called, Survey

FILES: dict[str, tuple[int, tuple[str, ...]]] = {
    "torch.save": (1, ("f",)),
    "numpy.save": (0, ("file",)),
    "numpy.savez": (0, ("file",)),
    "numpy.savez_compressed": (0, ("file",)),
    "numpy.savetxt": (0, ("fname",)),
    "matplotlib.pyplot.savefig": (0, ("fname",)),
    "joblib.dump": (1, ("filename",)),
}
"""Functions that write a file, with the position and the names of the argument for the path."""
WRITING_METHODS = word_set("save save_weights to_csv to_json savefig save_pretrained to_pickle")
ON_PATHS = word_set("write_text write_bytes mkdir touch")
"""Methods of a path that write it."""
OPENING = ("builtins.open", "io.open")
READERS = word_set(
    "load load_model load_weights read_csv read_json restore from_pretrained exists isfile isdir load_state_dict "
    "loadtxt"
)


def output_paths(survey: Survey) -> tuple[str, ...]:
    """Constant relative paths that the script writes and never reads, in source order."""
    destinations = Destinations(survey)
    written: list[str | None] = []
    read: set[str | None] = set()
    for node, function in survey.graph.calls:
        call = Called(node, function, survey.resolver.qualified_name(node.func, function) or f".{last_name(node.func)}")
        target = _target(call)
        if target is not None:
            written.append(destinations.constant(target, function))
        elif call.name in OPENING or last_name(node.func) in READERS:
            parts = (part for part in walk(node) if isinstance(part, cst.Name | cst.BaseString))
            read |= {destinations.constant(part, function) for part in parts}
    kept = [path for path in written if path and path not in read and not path.startswith(("/", "~"))]
    return tuple(dict.fromkeys(kept))


def _target(call: Called) -> cst.BaseExpression | None:
    """The path of the file that a call writes."""
    if call.name in OPENING:
        return call.argument(0, "file") if _writes(call.argument(1, "mode")) else None
    if call.name in FILES:
        place, words = FILES[call.name]
        return call.argument(place, *words)
    is_method = isinstance(call.node.func, cst.Attribute) and last_name(call.node.func) in WRITING_METHODS
    return call.argument(0) if is_method else None


def _writes(mode: cst.BaseExpression | None) -> bool:
    return bool(set("wax") & set(constant_text(mode) or "r"))  # what is opened by "r+" is there


# ---------------------------------------------------------------- rules

Matches = Iterator[tuple[SideEffectKind, cst.CSTNode, str]]
"""Kind, place and description of each side effect."""

IDS = {
    "wandb.init": ("id", "resume", "name"),
    "neptune.init_run": ("with_id", "custom_run_id", "run"),
    "neptune.new.init": ("run", "custom_run_id"),
    "neptune.new.init_run": ("with_id", "custom_run_id", "run"),
    "mlflow.start_run": ("run_id",),
    "comet_ml.start": ("experiment_key",),
    "comet_ml.ExistingExperiment": ("previous_experiment", "experiment_key"),
    "swanlab.init": ("id", "resume"),
    "clearml.Task.init": ("continue_last_task",),
    "WandbLogger": ("id", "version", "name"),
    "MLFlowLogger": ("run_id",),
    "CometLogger": ("experiment_key",),
    "NeptuneLogger": ("with_id", "run"),
}
"""Arguments that name a run of a tracker; logger classes are listed by the last part of their name."""
ID_VARIABLES = word_set(
    "WANDB_RUN_ID WANDB_RESUME COMET_EXPERIMENT_KEY NEPTUNE_CUSTOM_RUN_ID MLFLOW_RUN_ID SWANLAB_RUN_ID SWANLAB_RESUME"
)


def ids(survey: Survey, destinations: Destinations) -> Matches:
    """Runs of trackers that a script names itself: all runs of an experiment would be written into one."""
    loggers = [name for name in survey.names if "ogger" in name and name.rpartition(".")[2] in IDS]
    for call in survey.calls([*IDS, *loggers]):
        by_name = keywords(call.node)
        # `resume` continues a run only if its id is passed.
        left_out = () if _is_given(by_name.get("id")) else ("resume",)
        words = [word for word in IDS.get(call.name) or IDS[call.last] if word not in left_out]
        values = {word: destinations.constant(by_name.get(word), call.function) for word in words}
        values |= {word: "True" for word in words if constant(by_name.get(word)) is True}
        fixed = [f'{word}="{values[word]}"' for word in words if values[word] not in (None, "", "never", "False")]
        if fixed or call.last == "ExistingExperiment":
            yield "tracker-id", call.node, f"{plain(call.name)}({fixed[0]})" if fixed else call.name
    for key in sorted(ID_VARIABLES & survey.environment.keys()):
        for target, text in survey.environment[key]:
            if text:
                yield "tracker-id", target, f'{key}="{text}"'


def _is_given(node: cst.BaseExpression | None) -> bool:
    is_none = node is None or (isinstance(node, cst.Name) and node.value == "None")
    return not is_none and not (isinstance(node, cst.Call) and last_name(node.func) == "generate_id")


def plain(name: str) -> str:
    """A full name without the calls in it."""
    return name.replace("()", "")


MODE_VARIABLES = {"WANDB_MODE": "online", "NEPTUNE_MODE": "async", "SWANLAB_MODE": "cloud", "COMET_START_ONLINE": "1"}

UPLOADS = word_set(
    "wandb.save wandb.log_artifact wandb.log_model wandb.init().save wandb.init().log_artifact requests.post "
    "requests.put requests.patch requests.Session().post requests.Session().put httpx.post httpx.put smtplib.SMTP "
    "smtplib.SMTP_SSL slack_sdk.WebClient().chat_postMessage slack_sdk.WebClient().files_upload "
    "huggingface_hub.upload_file huggingface_hub.upload_folder huggingface_hub.upload_large_folder "
    "huggingface_hub.create_repo huggingface_hub.push_to_hub_keras huggingface_hub.HfApi().upload_file "
    "huggingface_hub.HfApi().upload_folder huggingface_hub.HfApi().create_repo huggingface_hub.HfApi().create_commit "
    "huggingface_hub.Repository().push_to_hub huggingface_hub.Repository().git_push comet_ml.Experiment"
)
UPLOADING = (
    r"boto3\..*\.(upload_file|upload_fileobj|put_object)|google\.cloud\.storage\..*\.upload_from_\w+"
    r"|azure\.storage\..*\.upload_blob|knockknock\.\w+"
)
HUBS = ("transformers.", "datasets.", "sentence_transformers.", "diffusers.")


def uploads(survey: Survey, destinations: Destinations) -> Matches:
    """Uploads and messages, which each run repeats."""
    for call in (*survey.calls(UPLOADS), *survey.calls(UPLOADING)):
        yield "upload", call.node, plain(call.name)
    for call in survey.calls(r"transformers\..*Arguments"):
        if constant(keywords(call.node).get("push_to_hub")) is True:
            yield "upload", call.node, f"{plain(call.name)}(push_to_hub=True)"
    for call in survey.methods(["push_to_hub"], HUBS):
        yield "upload", call.node, "push_to_hub"
    yield from _online(survey, destinations)


def _online(survey: Survey, destinations: Destinations) -> Matches:
    """Trackers that the script itself sets to online mode, which overrides deviate."""
    for call in survey.calls(("wandb.init", "neptune.init_run", "swanlab.init")):
        mode = destinations.constant(keywords(call.node).get("mode"), call.function)
        if mode in MODE_VARIABLES.values():
            yield "upload", call.node, f'{call.name}(mode="{mode}")'
    for key, online in MODE_VARIABLES.items():
        for target, text in survey.environment.get(key, ()):
            if text == online:
                yield "upload", target, f'{key}="{online}"'


DATABASES = word_set(
    "sqlalchemy.create_engine psycopg2.connect psycopg.connect pymysql.connect MySQLdb.connect mysql.connector.connect "
    "pymongo.MongoClient redis.Redis redis.StrictRedis redis.from_url optuna.storages.RDBStorage"
)
NAMED = {
    "sqlite3.connect": ".*",
    "optuna.create_study": ".*",
    "mlflow.set_tracking_uri": r"\w[\w+.]*://(?!/).*|databricks",
}
"""Functions that open a database which others see only with an address like this."""
OWN = ("sqlite://", "sqlite:///:memory:", ":memory:")
"""Databases in memory."""
PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")


def databases(survey: Survey, destinations: Destinations) -> Matches:
    """Databases, which all runs share."""
    for call in survey.calls([*DATABASES, *NAMED]):
        is_study = call.name == "optuna.create_study"
        place = None if is_study else 0
        address = call.argument(place, "storage", "url", "uri", "database", "host")
        value = destinations.constant(address, call.function)
        is_made = is_study and isinstance(address, cst.Call | cst.FormattedString)
        is_shared = call.name in DATABASES or is_made or (value and re.fullmatch(NAMED[call.name], value))
        if is_shared and value not in OWN:
            what = f'("{PASSWORD.sub("", value)}")' if value else ""
            yield "database", call.node, f"{plain(call.name)}{what}"


PATHS: dict[str, tuple[int | None, tuple[str, ...]]] = {
    "os.makedirs": (0, ("name",)),
    "os.mkdir": (0, ("path",)),
    "torch.utils.tensorboard.SummaryWriter": (0, ("log_dir",)),
    "torch.utils.tensorboard.writer.SummaryWriter": (0, ("log_dir",)),
    "tensorboardX.SummaryWriter": (0, ("logdir", "log_dir")),
    "tensorflow.summary.create_file_writer": (0, ("logdir",)),
    "tensorflow.summary.FileWriter": (0, ("logdir",)),
    "tensorflow.saved_model.save": (1, ("export_dir",)),
    "logging.basicConfig": (None, ("filename",)),
    "logging.FileHandler": (0, ("filename",)),
    "logging.handlers.RotatingFileHandler": (0, ("filename",)),
    **dict.fromkeys(word_set("shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.move"), (1, ("dst",))),
}
"""The same for what writes folders, or several files …"""
CLASSES: dict[str, tuple[int | None, tuple[str, ...]]] = {
    "ModelCheckpoint": (0, ("filepath", "dirpath")),
    "CSVLogger": (0, ("filename", "save_dir")),
    "TensorBoardLogger": (0, ("save_dir",)),
    "TensorBoard": (0, ("log_dir",)),
    "Trainer": (None, ("default_root_dir",)),
    "TrainingArguments": (0, ("output_dir",)),
    "Seq2SeqTrainingArguments": (0, ("output_dir",)),
}
"""… and for classes of frameworks, by the last part of the name."""


def paths(survey: Survey, destinations: Destinations) -> Matches:
    """Fixed paths outside the working copy that are written: all runs write the same files."""

    def tell(call: Called, target: cst.BaseExpression | None) -> Matches:
        path = destinations.outside(target, call.function)
        if path is not None:
            yield "absolute-path", call.node, path

    classes = [name for name in survey.names if "." in name and name.rpartition(".")[2] in CLASSES]
    for call in survey.calls([*PATHS, *classes]):
        place, words = PATHS.get(call.name) or CLASSES[call.last]
        yield from tell(call, call.argument(place, *words))
    objects = ("pandas.", "matplotlib.", "tensorflow.", "keras.", "transformers.")
    for call in (*survey.calls([*FILES, *OPENING]), *survey.methods(WRITING_METHODS, objects)):
        yield from tell(call, _target(call))
    for call in survey.methods([*ON_PATHS, "open"], ("pathlib.",)):
        if isinstance(call.node.func, cst.Attribute) and (call.last != "open" or _writes(call.argument(0, "mode"))):
            yield from tell(call, call.node.func.value)


def ports(survey: Survey, destinations: Destinations) -> Matches:
    """Fixed ports: only one of two simultaneous runs can use each."""
    for call in survey.methods(["bind"], ("socket.",)):
        match positional(call.node):
            case [cst.Tuple(elements=[_, cst.Element(value=cst.Integer(value=port))])] if port != "0":
                yield "port", call.node, port
    for call in survey.calls(["torch.distributed.init_process_group"]):
        address = destinations.constant(call.argument(None, "init_method"), call.function) or ""
        if address.startswith("tcp://") and address.rpartition(":")[2].isdecimal():
            yield "port", call.node, address.rpartition(":")[2]
    for target, text in survey.environment.get("MASTER_PORT", ()):
        if text:
            yield "port", target, f"{text} (MASTER_PORT)"


RULES: tuple[Callable[[Survey, Destinations], Matches], ...] = (ids, uploads, databases, paths, ports)


def find_side_effects(survey: Survey) -> tuple[SideEffect, ...]:
    """All of them in source order, each kind once in a line; a path only once for all that is written below it.

    Lines with `# deviate: ignore` and unreachable code are left out.
    """
    graph = survey.graph
    order = {file: number for number, file in enumerate(graph.project.files())}
    effects: dict[tuple[str, str, int], SideEffect] = {}
    destinations = Destinations(survey)
    for rule in RULES:
        for kind, node, subject in rule(survey, destinations):
            if survey.is_listed(node):
                place = graph.nodes.place(node)
                effects.setdefault((kind, place.file, place.line), SideEffect(kind, subject, place.file, place.line))
    in_order = sorted(effects.values(), key=lambda effect: (order[effect.file], effect.line, effect.kind))
    return tuple(effect for number, effect in enumerate(in_order) if not _is_below(effect, in_order[:number]))


def _is_below(effect: SideEffect, earlier: list[SideEffect]) -> bool:
    path = effect.what.rstrip("…/")
    return effect.kind == "absolute-path" and any(
        other.kind == effect.kind and (path == (above := other.what.rstrip("…/")) or path.startswith(f"{above}/"))
        for other in earlier
    )
