"""The memory of observations, each state stored once: a ring per lane, in which s' is the entry after s."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from deddqn.engine import Record
from deddqn.training.dqn.weights import padded_width


class Batch(NamedTuple):
    """Observations (s, a, r, s') drawn from the memory."""

    both: torch.Tensor  # (2 batch, padded features): the states, then those n decisions later
    actions: torch.Tensor  # (batch, 1)
    returns: torch.Tensor  # (batch,): r, or the discounted sum of n rewards
    ended: torch.Tensor  # (batch,) bool: the run ended within these n decisions

    @property
    def states(self) -> torch.Tensor:
        """(batch, padded features): s."""
        return self.both[: len(self.returns)]

    @property
    def next_states(self) -> torch.Tensor:
        """(batch, padded features): s'; arbitrary where the run ended."""
        return self.both[len(self.returns) :]


class Replay:
    """The last observations of every lane, on the learner's device.

    A lane's ring also holds the state that follows its newest decision, so that every decision can be replayed at
    once, and room for one more tick, so that a tick is written without a look at how much of it was used.

    Parameters
    ----------
    lanes, capacity, features : lanes, observations in all lanes together, width of a state.
    decisions : of each lane per tick.
    n_step, gamma : rewards summed into a return, and their discount.
    """

    def __init__(
        self,
        *,
        lanes: int,
        capacity: int,
        features: int,
        decisions: int = 1,
        n_step: int = 1,
        gamma: float = 0.99,
        device: str = "cpu",
        state_type: str = "float32",
    ) -> None:
        self.lanes, self.features, self.decisions, self.n_step = lanes, features, decisions, n_step
        self.per_lane = max(capacity // lanes, 1) + n_step - 1
        self.slots = self.per_lane + 1 + decisions
        size = lanes * self.slots
        self.states = torch.zeros((size, padded_width(features)), dtype=getattr(torch, state_type), device=device)
        self.actions = torch.zeros(size, dtype=torch.uint8, device=device)
        self.rewards = torch.zeros(size, device=device)
        self.ends = torch.zeros(size, dtype=torch.bool, device=device)
        self.head = torch.zeros(lanes, dtype=torch.int64, device=device)
        self.count = torch.zeros(lanes, dtype=torch.int64, device=device)
        self._first = torch.arange(lanes, device=device)[:, None] * self.slots
        self._drawn = torch.arange(lanes, device=device)  # the lanes that can be drawn from, the first `_n_drawn`
        self._n_drawn = torch.zeros((), dtype=torch.float64, device=device)
        self._made = np.zeros(lanes, dtype=np.int64)  # decisions of each lane, until all can be drawn from
        self._ticks = torch.arange(decisions + 1, device=device)
        self._steps = torch.arange(n_step, device=device)
        self._discounts = gamma ** torch.arange(n_step, device=device, dtype=torch.float32)
        self.stored = 0

    @property
    def device(self) -> torch.device:
        """Where the memory lies."""
        return self.states.device

    def append(self, record: Record, reward_scale: float = 1.0, first: int = 0) -> None:
        """Algorithm 1 line 15: store a tick of the lanes from `first` on; its states are padded and look one ahead."""
        states, actions, rewards, ends, made = (self._moved(a) for a in (*_arrays(record, reward_scale), record.made))
        block = slice(first, first + len(record.made))
        places = self._first[block] + (self.head[block, None] + self._ticks) % self.slots
        decided = places[:, :-1].reshape(-1)
        self.states.index_copy_(0, places.reshape(-1), states.reshape(-1, states.shape[2]).to(self.states.dtype))
        self.actions.index_copy_(0, decided, actions.reshape(-1))
        self.rewards.index_copy_(0, decided, rewards.reshape(-1))
        self.ends.index_copy_(0, decided, ends.reshape(-1))
        self.head[block].add_(made).remainder_(self.slots)
        self.count[block].add_(made).clamp_(max=self.per_lane)
        self.stored += int(record.made.sum())
        if self._made.min() < self.n_step:
            self._made[block] += record.made
            self._note_drawn()

    def _note_drawn(self) -> None:
        """A lane can be drawn from once it has made `n_step` decisions; those of an actor that is late come later."""
        lanes = np.flatnonzero(self._made >= self.n_step)
        self._drawn[: lanes.size] = torch.from_numpy(lanes).to(self.device)
        self._n_drawn.fill_(lanes.size)

    def cut(self, first: int, lanes: int) -> None:
        """End the runs of these lanes at their newest decisions: what comes next belongs to others."""
        block = slice(first, first + lanes)
        self.ends[self._first[block, 0] + (self.head[block] - 1) % self.slots] = True

    def _moved(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def sample(self, size: int, generator: torch.Generator) -> Batch:
        """Algorithm 1 line 16: a random mini-batch; a lane, then one of its observations, with equal chances."""
        drawn = torch.rand((2, size), dtype=torch.float64, device=self.device, generator=generator)
        lane = self._drawn[(drawn[0] * self._n_drawn).long()]
        usable = self.count[lane] - (self.n_step - 1)
        age = self.n_step + (drawn[1] * usable).long()
        return self.observations(lane, age)

    def observations(self, lane: torch.Tensor, age: torch.Tensor) -> Batch:
        """The decisions of these lanes so many decisions back; 1 is the newest."""
        first, place = lane * self.slots, self.head[lane] - age
        now = first + place % self.slots
        later = first + (place + self.n_step) % self.slots
        if self.n_step == 1:
            returns, ended = self.rewards[now], self.ends[now]
        else:
            returns, ended = self._returns(first, place)
        return Batch(self.states[torch.cat([now, later])].float(), self.actions[now].long()[:, None], returns, ended)

    def _returns(self, first: torch.Tensor, place: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Discounted sums of n rewards, cut where the run ended."""
        span = first[:, None] + (place[:, None] + self._steps) % self.slots
        ends = self.ends[span]
        over_before = ends.cumsum(dim=1) - ends.long() > 0
        returns = (self.rewards[span] * self._discounts).masked_fill(over_before, 0.0).sum(dim=1)
        return returns, ends.any(dim=1)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """What must be kept to go on: only the slots that were ever written, without the padding."""
        used = min(self.slots, int(self.head.max()) + self.decisions + 1 if not self._wrapped() else self.slots)
        kept = {name: getattr(self, name).view(self.lanes, self.slots, -1)[:, :used] for name in _RINGS}
        kept["states"] = kept["states"][:, :, : self.features]
        arrays = {name: tensor.cpu().numpy() for name, tensor in kept.items()}
        return arrays | {"head": self.head.cpu().numpy(), "count": self.count.cpu().numpy()}

    def _wrapped(self) -> bool:
        return bool((self.count >= self.per_lane).any())

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Take back what `to_arrays` gave."""
        used = arrays["states"].shape[1]
        for name in _RINGS:
            ring = getattr(self, name).view(self.lanes, self.slots, -1)
            ring[:, :used, : arrays[name].shape[2]] = torch.from_numpy(arrays[name]).to(self.device)
        self.head.copy_(torch.from_numpy(arrays["head"]))
        self.count.copy_(torch.from_numpy(arrays["count"]))
        self._made[:] = arrays["count"]
        self._note_drawn()


_RINGS = ("states", "actions", "rewards", "ends")


def _arrays(record: Record, scale: float) -> tuple[np.ndarray, ...]:
    """A record in the types of the memory, so that less crosses to the device."""
    rewards = (record.rewards * scale).astype(np.float32)
    return record.states, record.actions.astype(np.uint8), rewards, record.ends
