"""What is published or sent: each run does it again."""

import re

from deviate.analysis.hazards.survey import Survey, is_true
from deviate.analysis.resolve.tree import constant_text, keywords
from deviate.analysis.side_effects.destinations import Destinations
from deviate.analysis.side_effects.trackers import Found, plain
from deviate.model.metric_vocabulary import word_set

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
    re.compile(r"boto3\..*\.(upload_file|upload_fileobj|put_object)"),
    re.compile(r"google\.cloud\.storage\..*\.upload_from_\w+"),
    re.compile(r"azure\.storage\..*\.upload_blob"),
    re.compile(r"knockknock\.\w+"),
)
HUBS = ("transformers.", "datasets.", "sentence_transformers.", "diffusers.")


def uploads(survey: Survey, destinations: Destinations) -> Found:
    for name in list(survey.names):
        if name in UPLOADS or any(pattern.fullmatch(name) for pattern in UPLOADING):
            for call in survey.calls([name]):
                yield "upload", call.node, plain(name)
        elif name.endswith("Arguments") and name.startswith("transformers."):
            for call in survey.calls([name]):
                if is_true(keywords(call.node).get("push_to_hub")):
                    yield "upload", call.node, f"{plain(name)}(push_to_hub=True)"
    for call in survey.methods(["push_to_hub"], HUBS):
        yield "upload", call.node, "push_to_hub"
    yield from _online(survey, destinations)


def _online(survey: Survey, destinations: Destinations) -> Found:
    """Trackers that the script sets to online mode, overriding deviate's request."""
    for call in survey.calls(("wandb.init", "neptune.init_run", "swanlab.init")):
        mode = destinations.constant(keywords(call.node).get("mode"), call.function)
        if mode in MODE_VARIABLES.values():
            yield "upload", call.node, f'{call.name}(mode="{mode}")'
    for key, online in MODE_VARIABLES.items():
        for target, value in survey.environment.get(key, ()):
            if constant_text(value) == online:
                yield "upload", target, f'{key}="{online}"'
