"""The replay buffer (Lin 1992): one ring of transitions per run, in which s' is the entry after s.

Every state is stored once, and the buffer lies on the device of the learner.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from deddqn._utils.reading import check_arrays
from deddqn.engine import Record
from deddqn.training.dqn.weights import padded_width


class Batch(NamedTuple):
    """Transitions (s, a, r, s') drawn from the replay buffer."""

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


class ReplayBuffer:
    """The newest transitions of every run.

    The ring of a run also holds the state that follows its newest decision, so that every decision can be replayed at
    once, and room for one more rollout, so that a rollout is written whole, however much of it was used.

    Parameters
    ----------
    n_runs, capacity, features : runs, transitions of all of them together, width of a state.
    rollout_steps : decisions of every run per rollout.
    n_step, gamma : rewards that are summed into a return, and their discount.
    """

    def __init__(
        self,
        *,
        n_runs: int,
        capacity: int,
        features: int,
        rollout_steps: int = 1,
        n_step: int = 1,
        gamma: float = 0.99,
        device: str = "cpu",
        state_type: str = "float32",
    ) -> None:
        self.n_runs, self.features, self.rollout_steps, self.n_step = n_runs, features, rollout_steps, n_step
        self.per_run = max(capacity // n_runs, 1) + n_step - 1
        self.length = self.per_run + 1 + rollout_steps  # of a ring
        size = n_runs * self.length
        self.states = torch.zeros((size, padded_width(features)), dtype=getattr(torch, state_type), device=device)
        self.actions = torch.zeros(size, dtype=torch.uint8, device=device)
        self.rewards = torch.zeros(size, device=device)
        self.ends = torch.zeros(size, dtype=torch.bool, device=device)
        self.head = torch.zeros(n_runs, dtype=torch.int64, device=device)
        self.count = torch.zeros(n_runs, dtype=torch.int64, device=device)
        self._first = torch.arange(n_runs, device=device)[:, None] * self.length
        self._sampled = torch.arange(n_runs, device=device)  # the runs that are sampled from, the first `_n_sampled`
        self._n_sampled = torch.zeros((), dtype=torch.float64, device=device)
        self._made = np.zeros(n_runs, dtype=np.int64)  # decisions of every run, until all are sampled from
        self._rollout = torch.arange(rollout_steps + 1, device=device)
        self._steps = torch.arange(n_step, device=device)
        self._discounts = gamma ** torch.arange(n_step, device=device, dtype=torch.float32)
        self.stored = 0

    @property
    def device(self) -> torch.device:
        """Where the buffer lies."""
        return self.states.device

    def add(self, record: Record, reward_scale: float = 1.0, first: int = 0) -> None:
        """Algorithm 1 line 15: store a rollout of the runs from `first` on; states are padded, and one longer."""
        states, actions, rewards, ends, made = (self._moved(a) for a in (*_arrays(record, reward_scale), record.made))
        block = slice(first, first + len(record.made))
        entries = self._first[block] + (self.head[block, None] + self._rollout) % self.length
        decided = entries[:, :-1].reshape(-1)
        self.states.index_copy_(0, entries.reshape(-1), states.reshape(-1, states.shape[2]).to(self.states.dtype))
        self.actions.index_copy_(0, decided, actions.reshape(-1))
        self.rewards.index_copy_(0, decided, rewards.reshape(-1))
        self.ends.index_copy_(0, decided, ends.reshape(-1))
        self.head[block].add_(made).remainder_(self.length)
        self.count[block].add_(made).clamp_(max=self.per_run)
        self.stored += int(record.made.sum())
        if self._made.min() < self.n_step:
            self._made[block] += record.made
            self._update_sampled()

    def _update_sampled(self) -> None:
        """A run is sampled from once it has made `n_step` decisions, on a cluster some sooner than others."""
        runs = np.flatnonzero(self._made >= self.n_step)
        self._sampled[: runs.size] = torch.from_numpy(runs).to(self.device)
        self._n_sampled.fill_(runs.size)

    def truncate(self, first: int, n_runs: int) -> None:
        """End these runs at their newest decisions: what comes next belongs to others."""
        block = slice(first, first + n_runs)
        self.ends[self._first[block, 0] + (self.head[block] - 1) % self.length] = True

    def _moved(self, array: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(array).to(self.device, non_blocking=True)

    def sample(self, size: int, generator: torch.Generator) -> Batch:
        """Algorithm 1 line 16: a random mini-batch; a run, then one of its transitions, each with equal probability."""
        drawn = torch.rand((2, size), dtype=torch.float64, device=self.device, generator=generator)
        run = self._sampled[(drawn[0] * self._n_sampled).long()]
        usable = self.count[run] - (self.n_step - 1)
        age = self.n_step + (drawn[1] * usable).long()
        return self.transitions(run, age)

    def transitions(self, run: torch.Tensor, age: torch.Tensor) -> Batch:
        """The transitions of these runs so many decisions back; 1 is the newest."""
        first, entry = run * self.length, self.head[run] - age
        now = first + entry % self.length
        later = first + (entry + self.n_step) % self.length
        if self.n_step == 1:
            returns, ended = self.rewards[now], self.ends[now]
        else:
            returns, ended = self._returns(first, entry)
        return Batch(self.states[torch.cat([now, later])].float(), self.actions[now].long()[:, None], returns, ended)

    def _returns(self, first: torch.Tensor, entry: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Discounted sums of n rewards, up to the end of the run."""
        span = first[:, None] + (entry[:, None] + self._steps) % self.length
        ends = self.ends[span]
        over_before = ends.cumsum(dim=1) - ends.long() > 0
        returns = (self.rewards[span] * self._discounts).masked_fill(over_before, 0.0).sum(dim=1)
        return returns, ends.any(dim=1)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """What is needed to resume: only the entries that were ever written, without the padding."""
        used = min(self.length, int(self.head.max()) + self.rollout_steps + 1 if not self._wrapped() else self.length)
        kept = {name: getattr(self, name).view(self.n_runs, self.length, -1)[:, :used] for name in _RINGS}
        kept["states"] = kept["states"][:, :, : self.features]
        arrays = {name: tensor.cpu().numpy() for name, tensor in kept.items()}
        return arrays | {"head": self.head.cpu().numpy(), "count": self.count.cpu().numpy()}

    def _wrapped(self) -> bool:
        return bool((self.count >= self.per_run).any())

    def load_arrays(self, arrays: dict[str, np.ndarray]) -> None:
        """Take back what `to_arrays` gave."""
        used = arrays["states"].shape[1] if arrays["states"].ndim == 3 else 0
        if not 0 < used <= self.length:
            raise ValueError(f"states must be (runs, 1 to {self.length} decisions, features)")
        rings = {name: (kind, (self.n_runs, used, 1)) for name, kind in _RINGS.items()}
        rings["states"] = ("f", (self.n_runs, used, self.features))
        check_arrays(arrays, {**rings, "head": ("i", (self.n_runs,)), "count": ("i", (self.n_runs,))})
        for name, below in (("head", self.length - 1), ("count", self.per_run)):
            if arrays[name].min() < 0 or arrays[name].max() > below:
                raise ValueError(f"{name} must lie in 0..{below}, got {arrays[name].min()} to {arrays[name].max()}")
        for name in _RINGS:
            ring = getattr(self, name).view(self.n_runs, self.length, -1)
            ring[:, :used, : arrays[name].shape[2]] = torch.from_numpy(arrays[name]).to(self.device)
        self.head.copy_(torch.from_numpy(arrays["head"]))
        self.count.copy_(torch.from_numpy(arrays["count"]))
        self._made[:] = arrays["count"]
        self._update_sampled()


_RINGS = {"states": "f", "actions": "u", "rewards": "f", "ends": "b"}
"""What is stored of every decision, and the kinds of its numbers as in NumPy."""


def _arrays(record: Record, scale: float) -> tuple[np.ndarray, ...]:
    """A record in the types of the buffer, so that less is copied to the device."""
    rewards = (record.rewards * scale).astype(np.float32)
    return record.states, record.actions.astype(np.uint8), rewards, record.ends
