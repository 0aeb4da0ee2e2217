"""The pending points of an asynchronous run as Python sees them: their rows, and more room for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deddqn._jit import Record
from deddqn.de.state import DE_STATE, Counter
from deddqn.engine.run_memory import EPISODE, view_run
from deddqn.engine.run_spec import RunSpec, write_run
from deddqn.features.buffers import OBSERVER


def pending_rows(de_state: Record) -> np.ndarray:
    """Rows of the pending points, in the order in which they were asked for."""
    counters = de_state.counters
    first = int(counters[Counter.RECORDED]) if counters[Counter.INITIALISED] else 0
    rows = np.arange(first, first + int(counters[Counter.PENDING]))
    return rows[np.argsort(de_state.tickets[rows])]


def grown(spec: RunSpec, arena: np.ndarray) -> tuple[RunSpec, np.ndarray]:
    """Spec and memory of the same run with twice the rows for trials."""
    larger = replace(spec, trial_rows=2 * spec.rows)
    target = np.zeros(larger.size)
    write_run(larger, target)
    for layout, old, new in zip((EPISODE, DE_STATE, OBSERVER), view_run(arena), view_run(target), strict=True):
        for field in layout.fields:
            if field.name != "links":
                values = getattr(old, field.name)
                getattr(new, field.name)[: len(values)] = values
    return larger, target
