"""Fixed paths outside of every work copy that are written: all runs write the same files."""

import libcst as cst

from deviate.analysis.hazards.survey import Called, Survey
from deviate.analysis.resolve.tree import constant_text, positional
from deviate.analysis.side_effects.destinations import Destinations
from deviate.analysis.side_effects.effects import WRITERS, WRITING_METHODS
from deviate.analysis.side_effects.trackers import Found
from deviate.model.metric_vocabulary import word_set

PATHS: dict[str, tuple[int, tuple[str, ...]]] = {
    **{name: (place, (word,)) for name, (place, word) in WRITERS.items()},
    "os.makedirs": (0, ("name",)),
    "os.mkdir": (0, ("path",)),
    "torch.utils.tensorboard.SummaryWriter": (0, ("log_dir",)),
    "torch.utils.tensorboard.writer.SummaryWriter": (0, ("log_dir",)),
    "tensorboardX.SummaryWriter": (0, ("logdir", "log_dir")),
    "tensorflow.summary.create_file_writer": (0, ("logdir",)),
    "tensorflow.summary.FileWriter": (0, ("logdir",)),
    "tensorflow.saved_model.save": (1, ("export_dir",)),
    "logging.FileHandler": (0, ("filename",)),
    "logging.handlers.RotatingFileHandler": (0, ("filename",)),
    "shutil.copy": (1, ("dst",)),
    "shutil.copy2": (1, ("dst",)),
    "shutil.copyfile": (1, ("dst",)),
    "shutil.copytree": (1, ("dst",)),
    "shutil.move": (1, ("dst",)),
}
"""Functions that write, with the position and names of the path argument."""
CLASSES: dict[str, tuple[int | None, tuple[str, ...]]] = {
    "ModelCheckpoint": (0, ("filepath", "dirpath")),
    "CSVLogger": (0, ("filename", "save_dir")),
    "TensorBoardLogger": (0, ("save_dir",)),
    "TensorBoard": (0, ("log_dir",)),
    "Trainer": (None, ("default_root_dir",)),
    "TrainingArguments": (0, ("output_dir",)),
    "Seq2SeqTrainingArguments": (0, ("output_dir",)),
}
"""Framework classes that write, by the last part of the name."""
ON_PATHS = word_set("write_text write_bytes mkdir touch")
"""Methods of a path object that write to it."""


def paths(survey: Survey, destinations: Destinations) -> Found:
    def tell(call: Called, target: cst.BaseExpression | None) -> Found:
        path = destinations.outside(target, call.function)
        if path is not None:
            yield "absolute-path", call.node, path

    for name in list(survey.names):
        where: tuple[int | None, tuple[str, ...]] | None = PATHS.get(name)
        if where is None and "." in name and not name.startswith("builtins."):
            where = CLASSES.get(name.rpartition(".")[2])
        for call in survey.calls([name]) if where is not None else ():
            yield from tell(call, call.argument(where[0], *where[1]) if where else None)
    for call in survey.calls(["builtins.open", "io.open"]):
        if _writes(call.argument(1, "mode")):
            yield from tell(call, call.argument(0, "file"))
    for call in survey.calls(["logging.basicConfig"]):
        yield from tell(call, call.argument(None, "filename"))
    for call in survey.methods(
        [*WRITING_METHODS], ("pandas.", "matplotlib.", "tensorflow.", "keras.", "transformers.")
    ):
        yield from tell(call, next(iter(positional(call.node)), None))
    for call in survey.methods([*ON_PATHS, "open"], ("pathlib.",)):
        if isinstance(call.node.func, cst.Attribute) and (call.last != "open" or _writes(call.argument(0, "mode"))):
            yield from tell(call, call.node.func.value)


def _writes(mode: cst.BaseExpression | None) -> bool:
    return bool(set("wax+") & set(constant_text(mode) or "r"))
