"""Stand-ins of the services of W&B and MLflow: they answer in the shape that the clients of both expect.

Source: queries and fields of `wandb` 0.31 (apis/public/runs.py, RunParquetHistory and HistoryPage of wandb-core);
answers of the server of MLflow 3.17.
"""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit


@dataclass
class CloudRun:
    """A run as a service has it: rows of its history with the step in each, and what stands in the summary alone."""

    id: str
    config: dict[str, Any]
    rows: list[dict[str, Any]]
    name: str = ""
    state: str = "finished"
    sweep: str | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class Service:
    """What a server answers with.

    Attributes:
        refusals: HTTP codes with which the next requests are answered instead.
        page: number of entries of a page, which is less than a client asks for.
        keys: values of the header Authorization that were sent.
    """

    runs: Sequence[CloudRun]
    url: str = ""
    refusals: list[int] = field(default_factory=list)
    page: int = 3
    keys: set[str] = field(default_factory=set)


@contextmanager
def wandb_service(runs: Sequence[CloudRun], project: str = "cifar") -> Iterator[Service]:
    """A service of W&B with a project of the entity `lab`."""

    def answer(service: Service, path: str, body: dict[str, Any]) -> dict[str, Any]:
        query, variables = body.get("query", ""), body.get("variables") or {}
        if "viewer" in query:
            teams: dict[str, Any] = {"edges": []}
            viewer = {"id": "1", "entity": "lab", "username": "me", "email": "", "flags": "{}", "teams": teams}
            return {"data": {"viewer": viewer}}
        if variables.get("project") != project:
            return {"data": {"project": None}}
        if "sweep(" in query:
            config = "metric: {name: val_acc, goal: maximize}\nmethod: grid\n"
            sweep = {"__typename": "Sweep", "id": "s", "name": variables["name"], "state": "FINISHED", "config": config}
            return {"data": {"project": {"sweep": sweep}}}
        if "runs(" in query:
            return {"data": {"project": _wandb_page(service, variables)}}
        run = next(
            one
            for one in service.runs
            if one.id in {variables.get("name"), variables.get("run"), variables.get("runName")}
        )
        steps = [row["_step"] for row in run.rows]
        if "historyKeys" in query:
            return {"data": {"project": {"run": {"historyKeys": {"lastStep": max(steps, default=-1)}}}}}
        if "parquetHistory" in query:
            return {"data": {"project": {"run": {"parquetHistory": {"parquetUrls": [], "liveData": []}}}}}
        rows = [row for row in run.rows if variables["minStep"] <= row["_step"] < variables["maxStep"]]
        return {"data": {"project": {"run": {"history": [json.dumps(row) for row in rows]}}}}

    with _serving(Service(runs), answer) as service:
        yield service


def _wandb_page(service: Service, variables: dict[str, Any]) -> dict[str, Any]:
    begin = int(variables.get("cursor") or 0)
    end = min(begin + service.page, len(service.runs))
    edges = [
        {"cursor": str(number), "node": _wandb_node(run)}
        for number, run in enumerate(service.runs[begin:end], begin + 1)
    ]
    more = {"endCursor": str(end), "hasNextPage": end < len(service.runs)}
    return {
        "internalId": "1", "runCount": len(service.runs), "readOnly": True, "runs": {"edges": edges, "pageInfo": more},
    }  # fmt: skip


def _wandb_node(run: CloudRun) -> dict[str, Any]:
    config = {name: {"desc": None, "value": value} for name, value in run.config.items()}
    absent = dict.fromkeys(("commit", "description", "notes", "group", "jobType"))
    return {
        **absent, "projectId": 1, "id": f"id-{run.id}", "name": run.id, "displayName": run.name or run.id, "tags": [],
        "state": run.state, "sweepName": run.sweep, "config": json.dumps({**config, "_wandb": {"value": {"m": []}}}),
        "summaryMetrics": json.dumps({**(run.rows[-1] if run.rows else {}), **run.summary}), "systemMetrics": "{}",
        "createdAt": "2026-03-01T08:00:00Z", "heartbeatAt": "2026-03-01T08:10:00Z", "historyLineCount": len(run.rows),
        "readOnly": True, "user": {"name": "me", "username": "me"}, "historyKeys": None,
    }  # fmt: skip


@contextmanager
def mlflow_service(runs: Sequence[CloudRun], experiment: str = "cifar") -> Iterator[Service]:
    """A tracking server of MLflow with an experiment of the number 7."""
    known = {"experiment_id": "7", "name": experiment, "lifecycle_stage": "active"}

    def answer(service: Service, path: str, body: dict[str, Any]) -> dict[str, Any] | None:
        parts = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        call = parts.path.removeprefix("/api/2.0/mlflow/")
        if call == "experiments/get-by-name":
            return {"experiment": known} if query["experiment_name"] == experiment else None
        if call == "experiments/get":
            return {"experiment": known} if query["experiment_id"] == "7" else None
        if call == "experiments/search":
            return {"experiments": [known, {"experiment_id": "0", "name": "Default"}]}
        if call == "runs/search":
            return _mlflow_page(service, "runs", [_mlflow_run(run) for run in service.runs], body)
        run = next(one for one in service.runs if one.id == query["run_id"])
        return _mlflow_page(service, "metrics", list(_mlflow_values(run, query["metric_key"])), query)

    with _serving(Service(runs), answer) as service:
        yield service


def _mlflow_page(service: Service, name: str, entries: list[dict[str, Any]], query: dict[str, Any]) -> dict[str, Any]:
    begin = int(query.get("page_token") or 0)
    end = begin + service.page
    return {name: entries[begin:end], **({"next_page_token": str(end)} if end < len(entries) else {})}


def _mlflow_run(run: CloudRun) -> dict[str, Any]:
    values = ((name, value) for row in run.rows for name, value in row.items() if not isinstance(value, dict))
    names = dict.fromkeys(name for name, _ in values if not name.startswith("_"))
    parent = {"mlflow.parentRunId": run.sweep} if run.sweep else {}
    tags = {"mlflow.source.name": "train.py", **parent, **run.tags}
    return {
        "info": {
            "run_uuid": run.id, "run_id": run.id, "run_name": run.name or run.id, "experiment_id": "7",
            "status": {"finished": "FINISHED", "running": "RUNNING"}.get(run.state, "FAILED"),
            "start_time": 1_772_000_000_000, "end_time": 1_772_000_600_000, "lifecycle_stage": "active",
        },
        "data": {
            "metrics": [list(_mlflow_values(run, name))[-1] for name in names],
            "params": [{"key": name, "value": str(value)} for name, value in run.config.items()],
            "tags": [{"key": name, "value": value} for name, value in tags.items()],
        },
    }  # fmt: skip


def _mlflow_values(run: CloudRun, name: str) -> Iterator[dict[str, Any]]:
    for row in run.rows:
        if name in row:
            step = {"step": row["_step"]} if row["_step"] else {}
            yield {"key": name, "value": row[name], "timestamp": 1_772_000_000_000 + row["_step"], **step}


@contextmanager
def _serving(service: Service, answer: Any) -> Iterator[Service]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_GET(self) -> None:
            self.reply({})

        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            is_json = "json" in self.headers.get("Content-Type", "")  # telemetry is not
            self.reply(json.loads(data or b"{}") if is_json else {})

        def reply(self, body: dict[str, Any]) -> None:
            service.keys.add(self.headers.get("Authorization", ""))
            document, code = None, 404
            if service.refusals:
                document, code = {"errors": [{"message": "refused"}]}, service.refusals.pop(0)
            elif "/otel/" not in self.path and (document := answer(service, self.path, body)) is not None:
                code = 200
            text = json.dumps(document or {"error_code": "RESOURCE_DOES_NOT_EXIST", "message": "none"}).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
