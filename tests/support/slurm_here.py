"""A Slurm of two nodes on this machine: real slurmctld and slurmd from a temporary folder, without root and MUNGE."""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("slurmctld", "slurmd", "sbatch", "squeue", "scancel", "srun", "scontrol")

CONF = """
ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
SlurmctldPort={port}
AuthType=auth/none
AuthInfo=cred_expire=5
CredType=cred/none
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=5
NodeName=node[0-1] NodeAddr=127.0.0.1 NodeHostname={host} Port=[{first}-{second}] CPUs=1 RealMemory=500
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing_program() -> str | None:
    """The first program of Slurm that this machine lacks."""
    return next((name for name in PROGRAMS if shutil.which(name, path=_path()) is None), None)


@contextlib.contextmanager
def slurm_cluster(folder: Path) -> Iterator[Path]:
    """Start the daemons; gives the configuration, for SLURM_CONF. Each node takes one job at a time."""
    (folder / "state").mkdir(parents=True)
    port = _free_ports(3)
    conf = folder / "slurm.conf"
    conf.write_text(
        CONF.format(
            host=socket.gethostname(), user=getpass.getuser(), folder=folder, port=port, first=port + 1, second=port + 2
        )
    )
    environment = {**os.environ, "SLURM_CONF": str(conf), "PATH": _path()}
    commands = (["slurmctld", "-D"], ["slurmd", "-D", "-N", "node0"], ["slurmd", "-D", "-N", "node1"])
    with (folder / "daemons.log").open("ab") as log:
        daemons = [
            subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
            for command in commands
        ]
    try:
        until = time.monotonic() + 300
        while _idle_nodes(environment) < 2:
            assert time.monotonic() < until, (folder / "daemons.log").read_text()[-4000:]
            time.sleep(0.1)
        yield conf
    finally:
        subprocess.run(["scancel", "--quiet", "--full", "--signal=KILL", "--me"], env=environment, check=False)
        for daemon in reversed(daemons):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGTERM)
            daemon.wait()


def _idle_nodes(environment: dict[str, str]) -> int:
    asked = subprocess.run(
        ["sinfo", "--noheader", "--Node", "--format=%T"], env=environment, capture_output=True, text=True, check=False
    )
    return asked.stdout.split().count("idle")


def _free_ports(n: int) -> int:
    """The first of so many neighbouring ports that nobody has, none of those that other workers of pytest look at."""
    begin = 27_000 + 1000 * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    for first in range(begin, begin + 1000 - n, n):
        with contextlib.ExitStack() as held:
            try:
                for port in range(first, first + n):
                    held.enter_context(socket.socket()).bind(("127.0.0.1", port))
            except OSError:
                continue
            return first
    raise OSError("no free ports")


def _path() -> str:
    """PATH with the folders of system programs, which not every user has there."""
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
