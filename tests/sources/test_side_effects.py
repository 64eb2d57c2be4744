"""What a script does outside its work copy is found with its place, and nothing is that it does not do."""

from collections.abc import Callable

import pytest

from deviate.analysis.document import to_document
from deviate.model.analysis import Analysis

Analyse = Callable[[str], Analysis]


def effects(analysis: Analysis) -> list[tuple[str, str, int]]:
    return [(it.kind, it.what, it.line) for it in analysis.side_effects]


def test_a_run_of_a_tracker_that_the_script_names_is_found_through_imports_and_names(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import os, wandb, mlflow as ml
        from neptune import init_run
        from pytorch_lightning.loggers import WandbLogger
        RUN = "abc123"
        wandb.init(project="p", id=RUN)
        wandb.init(id=checkpoint["id"], resume="allow")
        init_run(with_id="SUN-123")
        ml.start_run(run_id="0af1")
        logger = WandbLogger(project="p", version="v1")
        os.environ["WANDB_RUN_ID"] = "q"
        """
    )
    assert effects(analysis) == [
        ("tracker-id", 'wandb.init(id="abc123")', 6),
        ("tracker-id", 'wandb.init(resume="allow")', 7),
        ("tracker-id", 'neptune.init_run(with_id="SUN-123")', 8),
        ("tracker-id", 'mlflow.start_run(run_id="0af1")', 9),
        ("tracker-id", 'pytorch_lightning.loggers.WandbLogger(version="v1")', 10),
        ("tracker-id", 'WANDB_RUN_ID="q"', 11),
    ]


def test_runs_that_trackers_name_themselves_are_none(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import wandb, mlflow, neptune, time
        wandb.init(project="p", config={"id": "abc"})
        wandb.init(id=wandb.util.generate_id(), resume=False)
        wandb.init(id=f"run-{time.time()}", resume="never")
        wandb.init(id=args.id)
        wandb.init(resume="allow")
        mlflow.start_run()
        neptune.init_run(project="p")
        tracker.init(id="abc")
        """
    )
    assert effects(analysis) == []


def test_uploads_are_found(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import boto3, requests, wandb
        from huggingface_hub import HfApi
        from transformers import AutoModel, TrainingArguments
        model = AutoModel.from_pretrained("x")
        s3 = boto3.client("s3")
        api = HfApi()
        s3.upload_file("a", "bucket", "a")
        if args.push_to_hub:
            model.push_to_hub("me/model")
        if rank == 0:
            api.upload_folder(folder_path="out", repo_id="me/model")
        requests.post("https://hooks.slack.com/1", json={})
        TrainingArguments("out", push_to_hub=True)
        wandb.init(mode="online")
        """
    )
    assert effects(analysis) == [
        ("upload", "boto3.client.upload_file", 8),
        ("upload", "push_to_hub", 10),
        ("upload", "huggingface_hub.HfApi.upload_folder", 12),
        ("upload", "requests.post", 13),
        ("upload", "transformers.TrainingArguments(push_to_hub=True)", 14),
        ("upload", 'wandb.init(mode="online")', 15),
    ]


def test_what_is_only_fetched_is_no_upload(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import boto3, requests, huggingface_hub
        class Queue:
            def push_to_hub(self): pass
        requests.get("https://example.org/data.zip")
        boto3.client("s3").download_file("bucket", "a", "a")
        huggingface_hub.snapshot_download("me/model")
        Queue().push_to_hub()
        requests.post("https://example.org")  # deviate: ignore
        """
    )
    assert effects(analysis) == []


def test_databases_are_found_and_passwords_are_not_told(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import sqlite3, optuna, mlflow, psycopg2
        from sqlalchemy import create_engine
        sqlite3.connect("results.db")
        sqlite3.connect(":memory:")
        optuna.create_study(storage="sqlite:///study.db")
        optuna.create_study(direction="maximize")
        optuna.create_study(storage=made())
        create_engine("postgresql://me:secret@host/db")
        create_engine("sqlite://")
        psycopg2.connect(**settings)
        mlflow.set_tracking_uri("http://localhost:5000")
        mlflow.set_tracking_uri("file:./mlruns")
        mlflow.set_tracking_uri("mlruns")
        """
    )
    assert effects(analysis) == [
        ("database", 'sqlite3.connect("results.db")', 4),
        ("database", 'optuna.create_study("sqlite:///study.db")', 6),
        ("database", "optuna.create_study", 8),
        ("database", 'sqlalchemy.create_engine("postgresql://host/db")', 9),
        ("database", "psycopg2.connect", 11),
        ("database", 'mlflow.set_tracking_uri("http://localhost:5000")', 12),
    ]


@pytest.mark.parametrize(
    ("expression", "path"),
    [
        ('"/data/out.pt"', "/data/out.pt"),
        ("TOP", "/data/top"),
        ('os.path.join(TOP, "a", "b.pt")', "/data/top/…"),
        ("os.path.join(TOP, name)", "/data/top/…"),
        ('f"/data/{name}.pt"', "/data/…"),
        ('f"{TOP}/{name}"', "/data/top…"),
        ('TOP + "/a.pt"', "/data/top…"),
        ('"/data/%s.pt" % name', "/data/…"),
        ('"/data/{}.pt".format(name)', "/data/…"),
        ('os.path.expanduser("~/a.pt")', "~/a.pt"),
        ('os.path.join(os.path.expanduser("~"), "a.pt")', "~/…"),
        ('os.environ["HOME"] + "/a.pt"', "~…"),
        ('Path.home() / "a.pt"', "~/…"),
        ('Path("/data", "x") / "a.pt"', "/data/…"),
        ('str(Path(TOP) / "a.pt")', "/data/top/…"),
        ("args.out", "/scratch/out"),
        ('os.path.join(args.out, "a.pt")', "/scratch/out/…"),
        ("Settings().where", "/nfs/out"),
        ("given('/srv/out')", "/srv/out"),
    ],
)
def test_fixed_paths_that_are_written_are_followed_to_where_they_begin(
    analyse: Analyse, expression: str, path: str
) -> None:
    saved = f"torch.save(model, {expression})"
    if expression.startswith("given"):
        saved = "def given(where):\n    torch.save(model, where)\ngiven('/srv/out')"
    head = """\
import argparse, os, torch
from pathlib import Path
TOP = "/data/top"
class Settings:
    def __init__(self):
        self.where = "/nfs/out"
parser = argparse.ArgumentParser()
parser.add_argument("-o", "--out", default="/scratch/out")
args = parser.parse_args()
"""
    if expression.startswith("Settings"):
        head, saved = head + "self = Settings()\n", "torch.save(model, self.where)"
    assert [(it.kind, it.what) for it in analyse(head + saved + "\n").side_effects] == [("absolute-path", path)]


def test_the_ways_to_write_a_fixed_path_are_known(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import os, numpy as np, logging, shutil, pandas as pd
        from pathlib import Path
        from torch.utils.tensorboard import SummaryWriter
        from lightning.pytorch.callbacks import ModelCheckpoint
        open("/a/1", "w")
        np.save("/a/2", x)
        os.makedirs("/a/3", exist_ok=True)
        frame.to_csv("/a/4")
        SummaryWriter(log_dir="/a/5")
        ModelCheckpoint(dirpath="/a/6")
        logging.basicConfig(filename="/a/7")
        shutil.copy("here", "/a/8")
        Path("/a/9").write_text("x")
        """
    )
    assert [what for _, what, _ in effects(analysis)] == [f"/a/{number}" for number in range(1, 10)]


def test_a_path_is_told_once_for_all_that_is_written_below_it(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import os, torch
        OUT = "/data/out"
        os.makedirs(OUT)
        torch.save(model, os.path.join(OUT, "best.pt"))
        torch.save(model, f"{OUT}/{epoch}.pt")
        torch.save(model, "/data/output.pt")
        """
    )
    assert effects(analysis) == [("absolute-path", "/data/out", 4), ("absolute-path", "/data/output.pt", 7)]


def test_paths_in_the_work_copy_or_only_read_are_no_side_effects(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import argparse, os, torch
        from pathlib import Path
        parser = argparse.ArgumentParser()
        parser.add_argument("--out", default="runs")
        parser.add_argument("--data", default="/data/imagenet")
        args = parser.parse_args()
        save_dir = ""
        HERE = os.path.dirname(os.path.abspath(__file__))
        torch.save(model, "best.pt")
        torch.save(model, os.path.join(args.out, "best.pt"))
        torch.save(model, os.path.join(HERE, "best.pt"))
        torch.save(model, Path(__file__).parent / "best.pt")
        torch.save(model, Path(save_dir) / "best.pt")
        torch.save(model, os.path.join(save_dir, "best.pt"))
        torch.save(model, save_dir + "/best.pt")
        torch.save(model, f"/{name}")
        torch.save(model, ", ".join(["/a", "b"]))
        torch.load("/data/model.pt")
        open("/data/labels.csv")
        open(os.path.join(args.data, "labels.csv"), "rb")
        os.listdir(args.data)
        open("/dev/null", "w")
        open("~/a.txt", "w")
        def never():
            return
            torch.save(model, "/data/a.pt")
        """
    )
    assert effects(analysis) == []


def test_fixed_ports_are_found(analyse: Analyse) -> None:
    analysis = analyse(
        """
        import os, socket
        import torch.distributed as dist
        os.environ["MASTER_PORT"] = "29500"
        sock = socket.socket()
        sock.bind(("", 12345))
        sock.bind(("", 0))
        dist.init_process_group("nccl", init_method="tcp://127.0.0.1:23456")
        dist.init_process_group("nccl", init_method="env://")
        """
    )
    assert effects(analysis) == [
        ("port", "29500 (MASTER_PORT)", 4),
        ("port", "12345", 6),
        ("port", "23456", 8),
    ]


def test_the_document_lists_them(analyse: Analyse) -> None:
    document = to_document(analyse('import wandb\nwandb.init(id="a")\n'))
    assert document["side_effects"] == [
        {"kind": "tracker-id", "what": 'wandb.init(id="a")', "file": "train.py", "line": 2}
    ]
