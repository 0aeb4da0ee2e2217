"""Who chooses: the protocol of a policy, and the compiled policies that the loop runs without Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from deddqn._jit.contents import Part
from deddqn._utils.validation import check_name, check_whole_number
from deddqn.de.config import check_own
from deddqn.de.portfolio import Portfolio
from deddqn.de.state import Outcome
from deddqn.features.layout import PAPER_STATE, check_state
from deddqn.policies.policy_kernels import NO_SETUP, PolicyKernels


@runtime_checkable
class Policy(Protocol):
    """What the engine asks of a policy, in the order in which it asks.

    ``reset`` once per run; then for every individual ``choose`` (the number of an operator of the portfolio) and,
    once the trial is evaluated, ``learn``; and ``end_generation`` after replacement. `features` is the state of
    Table 1, or an empty array when ``needs_features`` is False. A policy that remembers individuals by their number
    may have a method ``renumber(origin)`` too: where the population has shrunk or was restarted, it follows
    ``end_generation``, and individual k had the number ``origin[k]`` before (-1: it is new). One that wants to see the
    search has a method ``look(search)``: it is called before every ``choose``, with a `SearchView` of population,
    values, donors and progress.
    """

    name: str
    needs_features: bool

    def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
        """Forget everything and prepare for a run."""

    def choose(self, features: np.ndarray, i: int) -> int:
        """The operator for individual `i`."""

    def learn(
        self, i: int, op: int, f_parent: float, f_trial: float, f_bsf: float, f_wsf: float, reward: float
    ) -> None:
        """What came of operator `op` on individual `i`; best and worst so far include the trial."""

    def end_generation(self) -> None:
        """A generation is finished."""


PARTS = ("name", "needs_features", "reset", "choose", "learn", "end_generation")


def is_policy(thing: object) -> TypeGuard[Policy]:
    """Whether an object has all parts of a policy.

    From Python 3.12 on, ``isinstance`` with a protocol does not see what ``__getattr__`` hands out, as objects do that
    wrap a policy.
    """
    return all(hasattr(thing, part) for part in PARTS)


def is_python_policy(thing: object) -> bool:
    """Whether an object is a policy that runs in Python, decision by decision."""
    return is_policy(thing) and not isinstance(thing, CompiledPolicy | type)


LARGEST_DIMENSION = 10**6
MemoryParts = Callable[[np.ndarray, int, int], list[Part]]


def _no_memory(n_ops: int, n_pop: int) -> int:
    return 0


class CompiledPolicy:
    """A policy made of kernels. The loop calls them by address; the methods below call the same kernels.

    Parameters
    ----------
    name : as in the registry.
    kernels : the compiled functions.
    setup : constants of the policy, shared by all runs.
    memory_size : float64 that a run keeps for the policy, from (n_ops, n_pop).
    needs_features : whether ``choose`` reads the state.
    needs_history : whether it reads more than rows 1-19 of it; if not, the others are not computed.
    portfolio : the portfolio that the policy was made for; None if any will do.
    max_dimension : dim^max of Table 1 row 5.
    state : what its features hold, a name in `deddqn.features.STATES`.
    de : settings of `DEConfig` that the policy was made with, where they are not the paper's: defaults of its runs.
    memory_parts : what the memory of a run may hold, from (setup, n_ops, n_pop in use): its parts in their order as
        (name, size, contents); memory that comes from a file is checked against it (`deddqn._jit.contents`).
    """

    def __init__(
        self,
        name: str,
        kernels: PolicyKernels,
        *,
        setup: np.ndarray = NO_SETUP,
        memory_size: Callable[[int, int], int] = _no_memory,
        needs_features: bool = False,
        needs_history: bool | None = None,
        portfolio: Portfolio | None = None,
        max_dimension: int = 30,
        state: str = PAPER_STATE,
        metadata: dict[str, Any] | None = None,
        de: Mapping[str, Any] | None = None,
        memory_parts: MemoryParts | None = None,
    ) -> None:
        self.name = check_name("name", name)
        self.kernels = kernels
        self.setup = np.ascontiguousarray(setup, dtype=np.float64)
        self.memory_size = memory_size
        self.memory_parts = memory_parts
        self.needs_features = needs_features
        self.needs_history = needs_features if needs_history is None else needs_history
        self.portfolio = portfolio
        check_whole_number("max_dimension", max_dimension, 1)
        if max_dimension > LARGEST_DIMENSION:
            raise ValueError(f"max_dimension must be at most {LARGEST_DIMENSION}, got {max_dimension}")
        self.max_dimension = int(max_dimension)
        self.state = check_state(state)
        self.metadata = metadata or {}
        self.de = check_own(de or {})
        self.source: str | None = None  # the name or path that `load_policy` was given
        self._n_ops = 0

    def __repr__(self) -> str:
        return f"<policy {self.name}>"

    def check_portfolio(self, portfolio: Portfolio) -> None:
        """Raise ValueError if the policy cannot choose from `portfolio` (F and CR may differ, strategies not)."""
        if self.portfolio is not None and _strategies(self.portfolio) != _strategies(portfolio):
            raise ValueError(
                f"policy {self.name!r} was made for the portfolio {_describe(self.portfolio)}, "
                f"got {_describe(portfolio)}"
            )

    def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
        """See `Policy`."""
        self._n_ops = n_ops
        self._memory = np.zeros(self.memory_size(n_ops, n_pop))
        self._stream = _stream_of(rng)
        if self.kernels.reset is not None:
            self.kernels.reset(self.setup, self._memory, n_ops, n_pop)

    def choose(self, features: np.ndarray, i: int) -> int:
        """See `Policy`."""
        return int(self.kernels.choose(self.setup, self._memory, features, self._stream, self._n_ops, i))

    def learn(
        self, i: int, op: int, f_parent: float, f_trial: float, f_bsf: float, f_wsf: float, reward: float
    ) -> None:
        """See `Policy`."""
        if self.kernels.learn is not None:
            outcome = np.full(len(Outcome), np.nan)
            outcome[[Outcome.PARENT, Outcome.TRIAL, Outcome.REWARD]] = f_parent, f_trial, reward
            outcome[[Outcome.NEW_BSF, Outcome.NEW_WSF]] = f_bsf, f_wsf
            self.kernels.learn(self.setup, self._memory, i, op, outcome)

    def end_generation(self) -> None:
        """See `Policy`."""
        if self.kernels.end_generation is not None:
            self.kernels.end_generation(self.setup, self._memory)

    def renumber(self, origin: np.ndarray) -> None:
        """See `Policy`."""
        if self.kernels.renumber is not None:
            self.kernels.renumber(self.setup, self._memory, origin)


def _strategies(portfolio: Portfolio) -> list[str]:
    return [entry.strategy for entry in portfolio]


def _describe(portfolio: Portfolio) -> str:
    return ", ".join(f"{e.strategy} ({e.parameters})" for e in portfolio)


def _stream_of(rng: np.random.Generator) -> np.ndarray:
    """The four words of an SFC64 generator, or a new stream seeded from another generator."""
    if not isinstance(rng.bit_generator, np.random.SFC64):
        seed = np.random.SeedSequence([int(w) for w in rng.integers(2**32, size=4)])
        rng = np.random.Generator(np.random.SFC64(seed))
    return np.array(rng.bit_generator.state["state"]["state"], dtype=np.uint64)
