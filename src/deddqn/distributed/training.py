"""Actors on the nodes of a cluster, one learner in the driver.

Every actor owns a block of the lanes and makes one tick at a time: the driver takes a tick, asks the actor for the next
one (with new weights, if there are some) and learns from what it took before it takes another. So actors run ahead of
the replay ratio by at most one tick each, and wait when the learner is slower than they are.

An actor that is lost is replaced as soon as a node has a free core, also one that joins later; its runs begin again
under the same numbers, so that no cycle misses one. A tick that was decided with weights too many updates old is
counted but not learned from.
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
from deddqn.training.dqn.curriculum import Finished
from deddqn.training.dqn.rollout import Actors, Tick
from deddqn.training.dqn.weights import Layers

FEW_LIVES = 5  # of an actor that never delivers anything: then something is wrong with all of them
GONE = (exceptions.RayActorError, exceptions.OutOfMemoryError, *LOST)


@dataclass(frozen=True)
class Report:
    """A tick as it travels."""

    record: Record
    finished: list[Finished]
    updates: int  # of the weights that decided


class RemoteActor:
    """On a node: a block of the lanes."""

    def begin(self, wanted: dict[str, str], parcel: bytes, numbers: np.ndarray, layers: Layers) -> tuple[str, int]:
        """Begin the runs of these numbers; what is wrong with this node, and the evaluations that staggering took."""
        if wrong := differences(wanted):
            return f"node {ray.util.get_node_ip_address()} cannot take part: {wrong}", 0
        config, problems, setups = unpack(parcel)
        self.state_type = config.state_type
        self.actors = Actors(replace(config, lanes=len(numbers), threads=1), problems, setups, layers)
        self.actors.load_arrays({"numbers": numbers, "next_number": np.zeros(1, dtype=np.int64)})
        self.tick = self.actors.new_buffer()
        return "", self.actors.stagger() if config.stagger else 0

    def act(self, begun: dict[int, int], epsilon: float, updates: int, layers: Layers | None) -> Report:
        """Begin runs (lane -> number) where others ended, and make a tick; `layers` are new weights, if there are."""
        for lane, number in begun.items():
            self.actors.begin(lane, number)
        if layers is not None:
            self.actors.show(layers)
        self.actors.set_epsilon(epsilon)
        self.actors.play(self.tick)
        record = self.tick.record
        small = replace(record, states=record.states.astype(self.state_type), actions=record.actions.astype(np.uint8))
        return Report(small, self.tick.finished, updates)


@dataclass
class Slot:
    """The driver's end of an actor: a block of lanes, and whoever plays it at the moment."""

    first: int
    lanes: int
    actor: Any = None
    playing: bool = False  # it has begun its runs
    cut: bool = True  # its next tick does not follow the last one in the memory
    unseen: int = 0
    begun: dict[int, int] = field(default_factory=dict)  # lane -> number of runs that it has yet to be told of
    version: int = -1  # of the weights that it has
    updates: int = 0
    lives: int = 0  # since it delivered a tick

    @property
    def block(self) -> slice:
        """Its lanes among all."""
        return slice(self.first, self.first + self.lanes)


@dataclass
class Ages:
    """How many updates the weights of ticks that are learned from were behind, since the log was last told."""

    ticks: int = 0
    total: int = 0
    most: int = 0

    def note(self, age: int) -> None:
        """One more tick."""
        self.ticks, self.total, self.most = self.ticks + 1, self.total + age, max(self.most, age)

    @property
    def mean(self) -> float:
        """Of all ticks."""
        return self.total / self.ticks if self.ticks else 0.0


class ClusterActors:
    """A `TickSource` on a cluster.

    Parameters
    ----------
    cluster, place : the cluster, and how many actors work there with weights of which age.
    config, problems, reward_setups, layers, pin : as for `Actors`.
    """

    def __init__(
        self,
        cluster: Cluster,
        place: ClusterConfig,
        config: TrainingConfig,
        problems: Sequence[Problem],
        reward_setups: Sequence[np.ndarray],
        layers: Layers,
        *,
        pin: Callable[[np.ndarray], np.ndarray] = np.asarray,
    ) -> None:
        place.check(config)
        self._cluster, self.config, self.place = cluster, config, place
        self._parcel = ray.put(pack((config, list(problems), list(reward_setups)), "a problem of the training"))
        blocks = np.array_split(np.arange(config.lanes), place.actors)
        self.slots = [Slot(int(block[0]), block.size) for block in blocks]
        self.numbers, self.next_number = np.arange(config.lanes), config.lanes
        self._flying: dict[Any, Slot] = {}
        self._buffers = [self._buffer(blocks[0].size, layers, pin) for _ in range(2)]
        self._epsilon, self._updates = 1.0, 0
        self._sent, self._version = 0, 0
        self._weights = ray.put(layers)
        self.ages = Ages()
        self._told: dict[str, Any] = {}
        self.lost = self.stale = 0

    def _buffer(self, lanes: int, layers: Layers, pin: Callable[[np.ndarray], np.ndarray]) -> Record:
        """Room for a tick: Ray's arrays cannot be written to, and a GPU reads pinned memory faster."""
        empty = Actors.room(self.config, lanes, layers[0][0].shape[1])
        states = pin(empty.states.astype(self.config.state_type))
        return replace(empty, states=states, actions=empty.actions.astype(np.uint8))

    def stagger(self) -> int:
        """Actors do so when they begin, and tell with their first ticks what it took."""
        return 0

    def set_epsilon(self, epsilon: float) -> None:
        """The share of random decisions, from the ticks on that are asked for next."""
        self._epsilon = epsilon

    def show(self, layers: Layers, updates: int) -> None:
        """Broadcast the weights if they are `broadcast` updates newer than the last; asked next, actors get them."""
        self._updates = updates
        if updates - self._sent >= self.place.every(self.config):
            self._weights, self._sent, self._version = ray.put(layers), updates, self._version + 1

    def ticks(self, more: Callable[[], bool], *, overlapped: bool) -> Iterator[Tick]:
        """Ticks of any actor as they come. Those that are under way when `more` ends it come with the next call."""
        for slot in self.slots:
            if slot.actor is None:
                self._start(slot)
        while more():
            ready, _ = ray.wait(list(self._flying), num_returns=1, timeout=POLL_SECONDS)
            for ref in ready:
                slot = self._flying.pop(ref)
                report = self._taken(slot, ref)
                if report is not None:
                    tick = self.accept(slot, report)
                    self._ask(slot)
                    yield tick

    def _start(self, slot: Slot) -> None:
        """A new actor for a block; Ray starts it where and when a core is free."""
        remote = ray.remote(RemoteActor).options(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")
        slot.actor = remote.remote()
        slot.playing, slot.cut, slot.begun = False, True, {}
        slot.version, slot.updates = self._version, self._sent
        numbers = self.numbers[slot.block].copy()
        self._flying[slot.actor.begin.remote(self._cluster.wanted, self._parcel, numbers, self._weights)] = slot

    def _ask(self, slot: Slot) -> None:
        """Have an actor make its next tick, with the newest weights that were broadcast."""
        weights = None
        if slot.version != self._version:
            slot.version, slot.updates, weights = self._version, self._sent, self._weights
        call = slot.actor.act.remote(slot.begun, self._epsilon, slot.updates, weights)
        slot.begun = {}
        self._flying[call] = slot

    def _taken(self, slot: Slot, ref: Any) -> Report | None:
        """A tick; None where an actor has only begun, or is lost and replaced."""
        try:
            answer = ray.get(ref)
        except GONE as error:
            self._replace(slot, str(error).splitlines()[0])
            return None
        except exceptions.RayTaskError as error:
            raise ClusterError(f"an actor failed: {type(error.cause).__name__}: {error.cause}") from error
        if isinstance(answer, Report):
            slot.lives = 0
            return answer
        wrong, unseen = answer
        if wrong:
            raise ClusterError(wrong)
        slot.playing, slot.unseen = True, slot.unseen + unseen
        self._ask(slot)
        return None

    def _replace(self, slot: Slot, reason: str) -> None:
        slot.lives += 1
        self.lost += 1
        if slot.lives > FEW_LIVES:
            raise ClusterError(f"an actor died {slot.lives} times before its first tick: {reason}")
        ray.kill(slot.actor)
        self._start(slot)

    def accept(self, slot: Slot, report: Report) -> Tick:
        """A report as a tick for the learner; the runs that follow the finished ones get their numbers."""
        for run in report.finished:
            slot.begun[run.lane] = self.numbers[slot.first + run.lane] = self.next_number
            self.next_number += 1
        record, made = self._copied(report.record), int(report.record.made.sum())
        tick = Tick(record, made, report.finished, slot.first, slot.unseen, slot.cut)
        slot.unseen, slot.cut = 0, False
        age = self._updates - report.updates
        if age <= self.place.most(self.config):
            self.ages.note(age)
        else:
            self.stale += 1
            record.made[:] = 0
            tick.decisions, tick.unseen, tick.cut = 0, tick.unseen + made, True
        return tick

    def _copied(self, record: Record) -> Record:
        """Into the buffer that the learner is not reading."""
        self._buffers.reverse()
        parts = {}
        for name, source in vars(record).items():
            parts[name] = getattr(self._buffers[0], name)[: len(source)]
            parts[name][...] = source
        return Record(**parts)

    @property
    def playing(self) -> int:
        """Actors that are there."""
        return sum(slot.playing for slot in self.slots)

    def facts(self) -> dict[str, Any]:
        """For the log: actors, the age of their weights since it was last asked, and what was lost so far."""
        if self.ages.ticks:
            self._told = {"staleness": round(self.ages.mean, 2), "most_staleness": self.ages.most}
            self.ages = Ages()
        return {"actors": self.playing, **self._told, "lost_actors": self.lost, "stale_ticks": self.stale}

    def describe(self) -> str:
        """For the progress."""
        ages = f"staleness {self.ages.mean:.1f} (most {self.ages.most}) updates"
        return f"{self.playing} of {len(self.slots)} actors on {self._cluster.describe()}  {ages}"

    def to_arrays(self) -> dict[str, np.ndarray]:
        """The numbers of the runs under way: they begin again when the training goes on."""
        return {"numbers": self.numbers, "next_number": np.array([self.next_number])}

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Go on with the runs of another process, from their beginnings."""
        self.numbers, self.next_number = arrays["numbers"].copy(), int(arrays["next_number"][0])

    def close(self) -> None:
        """End all actors."""
        for slot in self.slots:
            if slot.actor is not None:
                ray.kill(slot.actor)
                slot.actor = None
        self._flying = {}


@contextmanager
def cluster_actors(place: ClusterConfig) -> Iterator[Callable[..., ClusterActors]]:
    """What makes the actors of a training on a cluster; without a number, one for every core that it has now."""
    with joined(place.address) as cluster:
        yield partial(ClusterActors, cluster, replace(place, actors=place.actors or cluster.cores))
