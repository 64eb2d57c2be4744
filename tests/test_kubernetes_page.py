"""The manifest of the page on Kubernetes: what its operator knows, and a command that deviate accepts."""

import shlex
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT

yaml = pytest.importorskip("yaml")

# Source: KubeRay API reference, ray.io/v1: RayJobSpec, RayClusterSpec, HeadGroupSpec, WorkerGroupSpec.
FIELDS = {
    "spec": "activeDeadlineSeconds backoffLimit clusterSelector entrypoint entrypointNumCpus entrypointNumGpus "
    "entrypointResources jobId metadata rayClusterSpec runtimeEnvYAML shutdownAfterJobFinishes submissionMode "
    "submitterPodTemplate suspend ttlSecondsAfterFinished",
    "cluster": "autoscalerOptions enableInTreeAutoscaling gcsFaultToleranceOptions headGroupSpec rayVersion suspend "
    "workerGroupSpecs",
    "head": "enableIngress headService rayStartParams serviceType template",
    "worker": "groupName maxReplicas minReplicas numOfHosts rayStartParams replicas template",
}
REQUIRED = {"cluster": {"headGroupSpec"}, "head": {"template"}, "worker": {"groupName", "template"}}


@pytest.fixture(scope="module")
def job() -> dict[str, Any]:
    text = (ROOT / "examples/kubernetes/rayjob.yaml").read_text(encoding="utf-8")
    document: dict[str, Any] = yaml.safe_load(text)
    return document


def test_the_manifest_has_fields_of_the_operator_and_one_volume_for_all(job: dict[str, Any]) -> None:
    spec, cluster = job["spec"], job["spec"]["rayClusterSpec"]
    head, workers = cluster["headGroupSpec"], cluster["workerGroupSpecs"]
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    for kind, part in (("spec", spec), ("cluster", cluster), ("head", head), *(("worker", one) for one in workers)):
        assert REQUIRED.get(kind, set()) <= set(part) <= set(FIELDS[kind].split()), kind
    assert all(isinstance(value, str) for group in (head, *workers) for value in group["rayStartParams"].values())
    pods = [group["template"]["spec"] for group in (head, *workers)]
    assert len({pod["containers"][0]["image"] for pod in pods}) == 1
    assert all(pod["volumes"] == pods[0]["volumes"] for pod in pods)
    assert {mount["mountPath"] for pod in pods for mount in pod["containers"][0]["volumeMounts"]} == {"/project"}


def test_deviate_accepts_the_command_of_the_manifest(job: dict[str, Any], project: Path, deviate_in) -> None:  # type: ignore[no-untyped-def]
    shell, flag, script = shlex.split(job["spec"]["entrypoint"])
    assert (shell, flag) == ("bash", "-c")
    folder, _, command = script.removeprefix("cd ").partition(" && exec deviate ")
    assert folder == "/project"
    (project / "train.py").write_text("for epoch in range(2):\n    print('loss', 0.5 * epoch)\n")
    answer = deviate_in(project)(*shlex.split(command), "--dry-run")
    assert answer.code == 0, answer.both
    assert "20 x " in answer.out
    assert not (project / ".deviate").exists()
