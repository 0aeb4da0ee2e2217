"""Comparisons and tuning on a cluster: the same tasks as on one machine, on the cores of all nodes."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from deddqn.baselines.baseline_registry import LIBRARIES
from deddqn.distributed.connection import Cluster, ClusterError, Crashed, joined
from deddqn.distributed.serialization import pack, unpack
from deddqn.experiments.executors import Task
from deddqn.experiments.jobs import Stopped, run_jobs, run_named_jobs
from deddqn.experiments.plan import Experiment, Job
from deddqn.experiments.results import Run, failed
from deddqn.experiments.tuning import TuningProtocol
from deddqn.policies import Policy

FAMILIES = {"bbob": "ioh", "bbob-coco": "coco-experiment"}
"""Problems that are evaluated by another package."""


def run_on_node(method: bytes, problem: bytes, jobs: list[Job]) -> list[Run]:
    """On a node: the rows of the jobs."""
    sent_method, sent_problem = unpack(method), unpack(problem)
    if isinstance(sent_problem, str):
        return run_named_jobs(sent_method, sent_problem, jobs)
    return run_jobs(sent_method, sent_problem, jobs)


class ClusterExecutor:
    """Runs the tasks of a comparison; tasks of a lost node run again on others."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._payloads: dict[int, Any] = {}
        self._sent: list[Any] = []  # alive, so that their identities stay theirs

    @property
    def resources(self) -> str:
        """Nodes and cores at the moment."""
        return self._cluster.describe()

    def results(self, tasks: list[Task], stopped: Stopped) -> Iterator[list[Run]]:
        """Rows of finished tasks as they come; when `stopped` says so, what is under way is given up."""
        for task in tasks:
            self._payload(task.method, f"the method {task.jobs[0].method!r}")
            self._payload(task.problem, f"the problem {task.jobs[0].problem!r}")
        waiting = deque((task, False) for task in tasks)
        for (task, alone), rows in self._cluster.stream(waiting, lambda each: self._submit(each[0]), stopped):
            if not isinstance(rows, Crashed):
                yield rows
            elif alone:
                yield [failed(task.jobs[0], "the process that ran it died", rows.reason)]
            else:
                waiting.extendleft((replace(task, jobs=[job]), True) for job in task.jobs)

    def _submit(self, task: Task) -> Any:
        return self._cluster.submit(run_on_node, self._payload(task.method), self._payload(task.problem), task.jobs)

    def _payload(self, thing: Any, what: str = "") -> Any:
        """Sent once, however many tasks need it."""
        if id(thing) not in self._payloads:
            self._payloads[id(thing)] = self._cluster.keep(pack(thing, what))
            self._sent.append(thing)
        return self._payloads[id(thing)]


def packages_of(experiment: Experiment) -> list[str]:
    """Packages beside the usual that the runs of an experiment depend on."""
    methods = [LIBRARIES[name] for name, spec in experiment.methods.items() if spec.by_name and name in LIBRARIES]
    families = {name.partition(":")[0] for name in experiment.problems}
    return [*dict.fromkeys(methods), *(package for family, package in FAMILIES.items() if family in families)]


@contextmanager
def cluster_executor(address: str, experiment: Experiment) -> Iterator[ClusterExecutor]:
    """The executor of an experiment on the cluster at `address`."""
    with joined(address, packages_of(experiment)) as cluster:
        yield ClusterExecutor(cluster)


def errors_on_node(protocol: TuningProtocol, policy: bytes) -> np.ndarray:
    """On a node: the errors of a part of the runs."""
    return protocol.errors(unpack(policy))


class ClusterEvaluator:
    """Makes the runs of a tuning on a cluster, problem by problem; the errors are those of one machine."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    @property
    def where(self) -> str:
        """Nodes and cores of the moment."""
        return self._cluster.describe()

    def __call__(self, protocol: TuningProtocol, policy: Policy) -> np.ndarray:
        """The final errors (problems, runs)."""
        parcel = self._cluster.keep(pack(policy, f"the policy {policy.name!r}"))
        errors = np.empty((len(protocol.problems), protocol.runs))
        pieces = deque(_pieces(protocol, self._cluster.cores))
        for piece, found in self._cluster.stream(pieces, lambda p: self._cluster.submit(errors_on_node, p, parcel)):
            if isinstance(found, Crashed):
                raise ClusterError(f"the process that ran {piece.problems[0]} died: {found.reason}")
            first = piece.first - protocol.first
            errors[protocol.problems.index(piece.problems[0]), first : first + piece.runs] = found[0]
        return errors


def _pieces(protocol: TuningProtocol, cores: int) -> Iterable[TuningProtocol]:
    """One problem each, and only some of its runs where there are more cores than problems."""
    shares = min(protocol.runs, -(-cores // len(protocol.problems)))
    for name in protocol.problems:
        for repeats in np.array_split(np.arange(protocol.runs), max(shares, 1)):
            first = protocol.first + int(repeats[0])
            yield replace(protocol, problems=(name,), first=first, runs=len(repeats), threads=1, remote=None)


@contextmanager
def cluster_evaluator(address: str) -> Iterator[ClusterEvaluator]:
    """The cluster at `address` for a tuning."""
    with joined(address) as cluster:
        yield ClusterEvaluator(cluster)
