"""What a policy in Python may look at: population, values, donors and progress of its run, all read-only."""

from __future__ import annotations

import numpy as np

from deddqn._jit import Record
from deddqn.de.state import Counter, Scalar


class SearchView:
    """The search at one decision, as `Policy` gets it in ``look``.

    Arrays are read-only views of the memory of the run: they are right until the choice is made. Copy what you keep.
    """

    __slots__ = ("_de_state", "individual")

    def __init__(self, de_state: Record, individual: int) -> None:
        self._de_state = de_state
        self.individual = individual
        """i: who gets the operator."""

    @property
    def population(self) -> np.ndarray:
        """(NP, D) the parents."""
        return _read_only(self._de_state.parents[: self._size])

    @property
    def values(self) -> np.ndarray:
        """(NP,) what the parents are compared by: their values, +inf where not finite; with constraints their keys."""
        return _read_only(self._de_state.fitness[: self._size])

    @property
    def donors(self) -> np.ndarray:
        """(5,) r1..r5: the parents that were drawn for this individual."""
        return _read_only(self._de_state.donors[self.individual])

    @property
    def best(self) -> int:
        """The index of x_best, the best parent at the start of the generation."""
        return self._counter(Counter.BEST)

    @property
    def best_point(self) -> np.ndarray:
        """(D,) x_bsf, the best point so far."""
        return _read_only(self._de_state.best_point)

    @property
    def best_value(self) -> float:
        """f_bsf."""
        return float(self._de_state.scalars[Scalar.F_BSF])

    @property
    def worst_value(self) -> float:
        """f_wsf."""
        return float(self._de_state.scalars[Scalar.F_WSF])

    @property
    def lower(self) -> np.ndarray:
        """(D,) lower bounds, or where there are none those of the initial population."""
        return _read_only(self._de_state.lower)

    @property
    def upper(self) -> np.ndarray:
        """(D,) upper bounds."""
        return _read_only(self._de_state.upper)

    @property
    def evaluations(self) -> int:
        """Evaluations so far."""
        return self._counter(Counter.EVALUATIONS)

    @property
    def budget(self) -> int:
        """Evaluations that the run counts on: its budget, or the next stage of one without an end."""
        return self._counter(Counter.HORIZON)

    @property
    def generation(self) -> int:
        """Finished generations."""
        return self._counter(Counter.GENERATION)

    @property
    def stagnation(self) -> int:
        """Evaluations since f_bsf improved."""
        return self._counter(Counter.STAGNATION)

    @property
    def _size(self) -> int:
        return self._counter(Counter.POPULATION)

    def _counter(self, counter: Counter) -> int:
        return int(self._de_state.counters[counter])


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view
