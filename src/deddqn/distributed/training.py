"""Distributed training as in Ape-X (Horgan et al. 2018): actors on the nodes of a cluster, one learner in the driver.

Every actor owns a block of the runs and collects one rollout at a time: the driver takes a rollout, asks the actor for
the next one (with new weights, if there are some) and learns from what it took before it takes another. So actors run
ahead of the replay ratio by at most one rollout each, and wait when the learner is slower than they are.

An actor that is lost is replaced as soon as a node has a free core, also one that joins later; its runs start again
under the same numbers, so that no cycle misses one. A rollout whose weights are too many updates old is counted but not
learned from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import ray
from ray import exceptions

from deddqn.distributed.connection import LOST, POLL_SECONDS, Cluster, ClusterError, joined
from deddqn.distributed.node_versions import differences
from deddqn.distributed.serialization import pack, unpack
from deddqn.engine import Record
from deddqn.problems import Problem
from deddqn.training.config import ClusterConfig, TrainingConfig
from deddqn.training.dqn.curriculum import FinishedRun
from deddqn.training.dqn.rollout import Actors, Rollout
from deddqn.training.dqn.weights import Layers

MAX_FAILURES = 5  # of an actor that never delivers anything: then something is wrong with all of them
GONE = (exceptions.RayActorError, exceptions.OutOfMemoryError, *LOST)


@dataclass(frozen=True)
class Report:
    """A rollout as an actor sends it."""

    record: Record
    finished: list[FinishedRun]
    updates: int  # of the weights that decided


class RemoteActor:
    """On a node: a block of the runs."""

    def start(self, wanted: dict[str, str], parcel: bytes, numbers: np.ndarray, layers: Layers) -> tuple[str, int]:
        """Start the runs of these numbers; return what is wrong with this node, and the unrecorded evaluations."""
        if wrong := differences(wanted):
            return f"node {ray.util.get_node_ip_address()} cannot take part: {wrong}", 0
        config, problems, setups = unpack(parcel)
        self.state_type = config.state_type
        self.actors = Actors(replace(config, n_runs=len(numbers), threads=1), problems, setups, layers)
        self.actors.load_arrays({"numbers": numbers, "next_number": np.zeros(1, dtype=np.int64)})
        self.rollout = self.actors.new_rollout()
        return "", self.actors.desynchronize() if config.desynchronize else 0

    def collect(self, started: dict[int, int], epsilon: float, updates: int, layers: Layers | None) -> Report:
        """Start runs (slot -> number) where others ended, and collect a rollout; `layers` are new weights, if any."""
        for slot, number in started.items():
            self.actors.start_run(slot, number)
        if layers is not None:
            self.actors.set_weights(layers)
        self.actors.set_epsilon(epsilon)
        self.actors.step(self.rollout)
        record = self.rollout.record
        small = replace(record, states=record.states.astype(self.state_type), actions=record.actions.astype(np.uint8))
        return Report(small, self.rollout.finished, updates)


@dataclass
class ActorHandle:
    """The driver's end of an actor: a block of the runs, and the process that has it at the moment."""

    first: int
    n_runs: int
    actor: Any = None
    ready: bool = False  # it has started its runs
    truncate: bool = True  # its next rollout does not follow the last one in the replay buffer
    unrecorded: int = 0
    started: dict[int, int] = field(default_factory=dict)  # slot -> number of the runs to start with the next rollout
    version: int = -1  # of the weights that it has
    updates: int = 0
    failures: int = 0  # since it delivered a rollout

    @property
    def block(self) -> slice:
        """Its runs among all."""
        return slice(self.first, self.first + self.n_runs)


@dataclass
class Staleness:
    """How many updates the weights of rollouts that are learned from were behind, since the last line of the log."""

    rollouts: int = 0
    total: int = 0
    most: int = 0

    def add(self, age: int) -> None:
        """Add a rollout."""
        self.rollouts, self.total, self.most = self.rollouts + 1, self.total + age, max(self.most, age)

    @property
    def mean(self) -> float:
        """Of all rollouts."""
        return self.total / self.rollouts if self.rollouts else 0.0


class ClusterActors:
    """A `RolloutSource` on a cluster.

    Parameters
    ----------
    cluster, cluster_config : the cluster; how many actors work there, and how old their weights may be.
    config, problems, reward_setups, layers, pin : as for `Actors`.
    """

    def __init__(
        self,
        cluster: Cluster,
        cluster_config: ClusterConfig,
        config: TrainingConfig,
        problems: Sequence[Problem],
        reward_setups: Sequence[np.ndarray],
        layers: Layers,
        *,
        pin: Callable[[np.ndarray], np.ndarray] = np.asarray,
    ) -> None:
        cluster_config.check(config)
        self._cluster, self.config, self.cluster_config = cluster, config, cluster_config
        self._parcel = ray.put(pack((config, list(problems), list(reward_setups)), "a problem of the training"))
        blocks = np.array_split(np.arange(config.n_runs), cluster_config.actors)
        self.handles = [ActorHandle(int(block[0]), block.size) for block in blocks]
        self.numbers, self.next_number = np.arange(config.n_runs), config.n_runs
        self._pending: dict[Any, ActorHandle] = {}
        self._buffers = [self._buffer(blocks[0].size, layers, pin) for _ in range(2)]
        self._epsilon, self._updates = 1.0, 0
        self._sent, self._version = 0, 0
        self._weights = ray.put(layers)
        self.staleness = Staleness()
        self._logged: dict[str, Any] = {}
        self.lost = self.stale = 0

    def _buffer(self, n_runs: int, layers: Layers, pin: Callable[[np.ndarray], np.ndarray]) -> Record:
        """Room for a rollout: Ray's arrays cannot be written to, and a GPU reads pinned memory faster."""
        empty = Actors.empty_record(self.config, n_runs, layers[0][0].shape[1])
        states = pin(empty.states.astype(self.config.state_type))
        return replace(empty, states=states, actions=empty.actions.astype(np.uint8))

    def desynchronize(self) -> int:
        """Actors do so when they start, and report the evaluations with their first rollouts."""
        return 0

    def set_epsilon(self, epsilon: float) -> None:
        """Explore with this probability, from the rollouts on that are asked for next."""
        self._epsilon = epsilon

    def set_weights(self, layers: Layers, updates: int) -> None:
        """Broadcast the weights if they are `broadcast` updates newer; actors receive them with the next request."""
        self._updates = updates
        if updates - self._sent >= self.cluster_config.broadcast_interval(self.config):
            self._weights, self._sent, self._version = ray.put(layers), updates, self._version + 1

    def rollouts(self, more: Callable[[], bool], *, overlapped: bool) -> Iterator[Rollout]:
        """Rollouts of any actor as they come; those under way when `more` ends it come with the next call."""
        for handle in self.handles:
            if handle.actor is None:
                self._start(handle)
        while more():
            ready, _ = ray.wait(list(self._pending), num_returns=1, timeout=POLL_SECONDS)
            for ref in ready:
                handle = self._pending.pop(ref)
                report = self._report(handle, ref)
                if report is not None:
                    rollout = self.accept(handle, report)
                    self._request(handle)
                    yield rollout

    def _start(self, handle: ActorHandle) -> None:
        """A new actor for a block; Ray starts it where and when a core is free."""
        remote = ray.remote(RemoteActor).options(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")
        handle.actor = remote.remote()
        handle.ready, handle.truncate, handle.started = False, True, {}
        handle.version, handle.updates = self._version, self._sent
        numbers = self.numbers[handle.block].copy()
        self._pending[handle.actor.start.remote(self._cluster.wanted, self._parcel, numbers, self._weights)] = handle

    def _request(self, handle: ActorHandle) -> None:
        """Have an actor collect its next rollout, with the newest weights that were broadcast."""
        weights = None
        if handle.version != self._version:
            handle.version, handle.updates, weights = self._version, self._sent, self._weights
        call = handle.actor.collect.remote(handle.started, self._epsilon, handle.updates, weights)
        handle.started = {}
        self._pending[call] = handle

    def _report(self, handle: ActorHandle, ref: Any) -> Report | None:
        """A rollout; None where an actor has only started, or is lost and replaced."""
        try:
            answer = ray.get(ref)
        except GONE as error:
            self._replace(handle, str(error).splitlines()[0])
            return None
        except exceptions.RayTaskError as error:
            raise ClusterError(f"an actor failed: {type(error.cause).__name__}: {error.cause}") from error
        if isinstance(answer, Report):
            handle.failures = 0
            return answer
        wrong, unrecorded = answer
        if wrong:
            raise ClusterError(wrong)
        handle.ready, handle.unrecorded = True, handle.unrecorded + unrecorded
        self._request(handle)
        return None

    def _replace(self, handle: ActorHandle, reason: str) -> None:
        handle.failures += 1
        self.lost += 1
        if handle.failures > MAX_FAILURES:
            raise ClusterError(f"an actor died {handle.failures} times before its first rollout: {reason}")
        ray.kill(handle.actor)
        self._start(handle)

    def accept(self, handle: ActorHandle, report: Report) -> Rollout:
        """A report as a rollout for the learner; the runs that follow the finished ones get their numbers."""
        for run in report.finished:
            handle.started[run.slot] = self.numbers[handle.first + run.slot] = self.next_number
            self.next_number += 1
        record, made = self._copied(report.record), int(report.record.made.sum())
        rollout = Rollout(record, made, report.finished, handle.first, handle.unrecorded, handle.truncate)
        handle.unrecorded, handle.truncate = 0, False
        age = self._updates - report.updates
        if age <= self.cluster_config.max_staleness(self.config):
            self.staleness.add(age)
        else:
            self.stale += 1
            record.made[:] = 0
            rollout.decisions, rollout.unrecorded, rollout.truncate = 0, rollout.unrecorded + made, True
        return rollout

    def _copied(self, record: Record) -> Record:
        """Into the buffer that the learner is not reading."""
        self._buffers.reverse()
        parts = {}
        for name, source in vars(record).items():
            parts[name] = getattr(self._buffers[0], name)[: len(source)]
            parts[name][...] = source
        return Record(**parts)

    @property
    def ready(self) -> int:
        """Actors that have started their runs."""
        return sum(handle.ready for handle in self.handles)

    def metrics(self) -> dict[str, Any]:
        """For the log: actors, the staleness of their weights since the last line, and what was lost so far."""
        if self.staleness.rollouts:
            self._logged = {"staleness": round(self.staleness.mean, 2), "max_staleness": self.staleness.most}
            self.staleness = Staleness()
        return {"actors": self.ready, **self._logged, "lost_actors": self.lost, "stale_rollouts": self.stale}

    def describe(self) -> str:
        """For the progress."""
        staleness = f"staleness {self.staleness.mean:.1f} (at most {self.staleness.most}) updates"
        return f"{self.ready} of {len(self.handles)} actors on {self._cluster.describe()}  {staleness}"

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The numbers of the runs under way, which start again when the training resumes."""
        return {"numbers": self.numbers, "next_number": np.array([self.next_number])}

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Take over the runs of another process, from their starts."""
        self.numbers, self.next_number = arrays["numbers"].copy(), int(arrays["next_number"][0])

    def close(self) -> None:
        """End all actors."""
        for handle in self.handles:
            if handle.actor is not None:
                ray.kill(handle.actor)
                handle.actor = None
        self._pending = {}


@contextmanager
def cluster_actors(config: ClusterConfig) -> Iterator[Callable[..., ClusterActors]]:
    """What makes the actors of a training on a cluster; without a number, one for every core that it has now."""
    with joined(config.address) as cluster:
        yield partial(ClusterActors, cluster, replace(config, actors=config.actors or cluster.cores))
