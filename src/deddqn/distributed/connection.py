"""Joining an existing Ray cluster, and a stream of tasks through it that survives the loss of nodes.

A task is a function of the package and its arguments. It is sent to any node with a free core; if its node dies it is
sent again, and if its process dies the caller gets a `Crashed`. Ray itself retries nothing, so nothing is done twice.
"""

from __future__ import annotations

import logging
import os
import re
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from deddqn.distributed.node_versions import versions

T = TypeVar("T")

AHEAD = 2  # tasks per core that are under way or wait at a node
POLL_SECONDS = 2.0  # between questions which nodes there are
WAIT_SECONDS = 0.5  # for tasks to end, between looks at whether to stop
PROBE_SECONDS = 120.0  # for a node to say which versions it has
REACH_SECONDS = 5.0  # for the head to answer

LOST = (exceptions.NodeDiedError, exceptions.ObjectLostError)
CRASHED = (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError)

HOW_TO_START = (
    "start one with 'ray start --head' and join it elsewhere; docs/guide/distributed.md says how and how safely"
)


class ClusterError(OSError):
    """The cluster cannot be used; the message says why and names the node."""


@dataclass(frozen=True)
class Crashed:
    """The process of a task ended before it answered, and not because its node was lost."""

    reason: str


@contextmanager
def joined(address: str, packages: Iterable[str] = ()) -> Iterator[Cluster]:
    """The cluster at `address` (``auto``: the one that runs on this machine), all of whose nodes fit the driver.

    `packages` must have the driver's versions on all nodes, too. A connection that this process has already is used.
    """
    if address != "auto" and re.fullmatch(r"[^\s:/]+:\d+", address) is None:
        raise ValueError(f"cluster must be 'auto' or the HOST:PORT of a Ray head, got {address!r}")
    before = signal.getsignal(signal.SIGTERM)
    mine = not ray.is_initialized()
    if mine:
        _connect(address)
    elif address not in ("auto", present := ray.get_runtime_context().gcs_address):
        raise ClusterError(f"this process works on the Ray cluster at {present} already, got {address!r}")
    try:
        cluster = Cluster(packages)
        cluster.check_nodes()
        yield cluster
    finally:
        if mine:
            ray.shutdown()
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)  # which ray.init had made its own


def _connect(address: str) -> None:
    """Join; never start anything."""
    wanted = os.environ.get("RAY_ADDRESS", "auto") if address == "auto" else address
    if wanted != "auto":
        _check_reachable(wanted)
    try:
        ray.init(address=wanted, log_to_driver=False, logging_level=logging.ERROR)
    except ConnectionError:
        raise ClusterError(f"no Ray cluster runs on this machine; {HOW_TO_START}") from None
    except (RuntimeError, exceptions.RayError, ValueError) as error:
        raise ClusterError(f"cannot join the Ray cluster at {wanted}: {str(error).splitlines()[0]}") from error


def _check_reachable(address: str) -> None:
    """Ray would try for a minute."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=REACH_SECONDS).close()
    except (OSError, ValueError) as error:
        raise ClusterError(f"no Ray head answers at {address} ({error}); {HOW_TO_START}") from None


def _worker() -> Callable[..., tuple[bool, Any]]:
    """The function that nodes run. A local one is sent by value: it can say that the package is missing there."""

    def work(wanted: dict[str, str], module: str, name: str, *arguments: Any) -> tuple[bool, Any]:
        from importlib import import_module

        import ray

        node = ray.util.get_node_ip_address()
        try:
            differences = import_module("deddqn.distributed.node_versions").differences(wanted)
        except ImportError as error:
            differences = f"deddqn cannot be imported there ({error})"
        if differences:
            return False, f"node {node} cannot take part: {differences}"
        try:
            return True, getattr(import_module(module), name)(*arguments)
        except Exception as error:
            return False, f"node {node}: {type(error).__name__}: {error}"

    return work


def ready() -> bool:
    """The task that does nothing: what matters is that its node fits."""
    return True


class Cluster:
    """A cluster that this process is connected to."""

    def __init__(self, packages: Iterable[str] = ()) -> None:
        self.wanted = versions(packages)
        self._work = ray.remote(num_cpus=1, max_retries=0)(_worker())
        self._nodes: list[dict[str, Any]] = []
        self._polled = -POLL_SECONDS

    @property
    def nodes(self) -> list[dict[str, Any]]:
        """The nodes that live and have cores."""
        if time.monotonic() - self._polled >= POLL_SECONDS:
            self._nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
            self._polled = time.monotonic()
        return self._nodes

    @property
    def cores(self) -> int:
        """Cores of all nodes."""
        return sum(int(node["Resources"]["CPU"]) for node in self.nodes)

    def describe(self) -> str:
        """Nodes and cores in words."""
        nodes, cores = len(self.nodes), self.cores
        return f"{nodes} node{'s' * (nodes != 1)}, {cores} core{'s' * (cores != 1)}"

    def check_nodes(self) -> None:
        """Ask every node for its versions; the error names the first that does not fit, and how."""
        asked = {}
        for node in self.nodes:
            there = NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
            work = self._work.options(num_cpus=0, scheduling_strategy=there)
            asked[work.remote(self.wanted, __name__, "ready")] = node["NodeManagerAddress"]
        for ref, address in asked.items():
            try:
                self.value(ray.get(ref, timeout=PROBE_SECONDS))
            except exceptions.GetTimeoutError:
                raise ClusterError(f"node {address} did not say its versions within {PROBE_SECONDS:g} s") from None
            except exceptions.RayError:  # it died meanwhile; those that come are asked with their first task
                continue

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Send a task; objects of `keep` among its arguments arrive as what was kept."""
        return self._work.remote(self.wanted, function.__module__, function.__qualname__, *arguments)

    def keep(self, thing: Any) -> Any:
        """Something large for many tasks, sent to each node once."""
        return ray.put(thing)

    @staticmethod
    def value(answer: tuple[bool, Any]) -> Any:
        """What a task gave, or its error."""
        fits, value = answer
        if not fits:
            raise ClusterError(value)
        return value

    def stream(
        self, waiting: deque[T], submit: Callable[[T], Any], stopped: Callable[[], bool] = lambda: False
    ) -> Iterator[tuple[T, Any]]:
        """Every task of `waiting` with what it gave, as they come; the caller may add more on the way.

        When `stopped` says so, only those that are ready come, and the others are cancelled.
        """
        running: dict[Any, T] = {}
        try:
            while waiting or running:
                while waiting and len(running) < AHEAD * max(self.cores, 1):
                    task = waiting.popleft()
                    running[submit(task)] = task
                for ref in _ready(list(running), 0.0 if stopped() else WAIT_SECONDS):
                    task = running.pop(ref)
                    try:
                        yield task, self.value(ray.get(ref))
                    except LOST:
                        waiting.appendleft(task)
                    except CRASHED as error:
                        yield task, Crashed(str(error).splitlines()[0])
                    except exceptions.RayError as error:
                        raise ClusterError(f"the cluster failed: {str(error).splitlines()[0]}") from error
                if stopped():
                    return
        finally:
            for ref in running:
                ray.cancel(ref, force=True)


def _ready(refs: list[Any], seconds: float) -> list[Any]:
    """Those that are ready, after waiting for the first so long."""
    first, _ = ray.wait(refs, num_returns=1, timeout=seconds)
    return ray.wait(refs, num_returns=len(refs), timeout=0)[0] if first else []
