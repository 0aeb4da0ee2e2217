"""What happened over a run, generation by generation, for plots and results."""

from __future__ import annotations

import numpy as np

from deddqn.de.state import Counter, Scalar
from deddqn.engine.run import Run
from deddqn.optimize.result import HistoryResult


class History:
    """Collects one row after the initial population and one after every generation."""

    def __init__(self) -> None:
        self._evaluations: list[int] = []
        self._best: list[float] = []
        self._mean: list[float] = []
        self._counts: list[np.ndarray] = []

    def note(self, run: Run) -> None:
        """Add the state of the run between two generations."""
        counters, scalars = run.de_state.counters, run.de_state.scalars
        self._evaluations.append(int(counters[Counter.EVALUATIONS]))
        self._best.append(run.best_value)
        self._mean.append(float(scalars[Scalar.MEAN]) if scalars[Scalar.MEDIAN] < np.inf else np.inf)
        self._counts.append(run.de_state.applications.copy())

    def arrays(self) -> dict[str, np.ndarray]:
        """The rows as arrays; ``strategy_counts`` (generations, K) is per generation."""
        totals = np.array(self._counts, dtype=np.int64)
        return {
            "nfev": np.array(self._evaluations, dtype=np.int64),
            "fun": np.array(self._best),
            "mean": np.array(self._mean),
            "strategy_counts": np.diff(totals, axis=0) if len(totals) else totals,
        }

    def result(self) -> HistoryResult:
        """The rows with attribute access."""
        return HistoryResult(self.arrays())

    @classmethod
    def from_arrays(cls, arrays: dict[str, np.ndarray], n_ops: int) -> History:
        """A history that goes on from saved arrays, of a search with `n_ops` operators."""
        history = cls()
        rows = len(np.atleast_1d(arrays["nfev"]))
        counts = (rows - 1, n_ops) if rows else (0,)
        wanted = {
            "nfev": ("i", (rows,)),
            "fun": ("f", (rows,)),
            "mean": ("f", (rows,)),
            "strategy_counts": ("i", counts),
        }
        found = {name: (array.dtype.kind, array.shape) for name, array in arrays.items()}
        if found != wanted:
            raise ValueError(f"history must hold {wanted}, got {found}")
        history._evaluations = arrays["nfev"].tolist()
        history._best, history._mean = arrays["fun"].tolist(), arrays["mean"].tolist()
        if history._evaluations:
            counters = arrays["strategy_counts"]
            first = np.zeros((1, counters.shape[1]), dtype=np.int64)
            history._counts = list(np.concatenate([first, np.cumsum(counters, axis=0)]))
        return history
