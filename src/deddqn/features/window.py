"""Table 1 rows 84-99: a window of improved offspring in which operators compete for room."""

from __future__ import annotations

from deddqn._jit import fill, kernel
from deddqn.features.buffers import Tally
from deddqn.features.history import write_block
from deddqn.features.layout import HISTORY_BLOCKS, METRICS

WINDOW_BLOCK = HISTORY_BLOCKS.index("window_improvement")


@kernel
def _oldest_of(observer, op):
    """Place of the element of operator `op` that entered first, or -1."""
    operators, entries = observer.window_op, observer.window_entry
    oldest = -1
    for w in range(operators.size):
        if operators[w] == op and (oldest < 0 or entries[w] < entries[oldest]):
            oldest = w
    return oldest


@kernel
def _worst(observer):
    """Place of the element with the highest f(u), the one that entered first on ties."""
    values, entries = observer.window_value, observer.window_entry
    worst = 0
    for w in range(1, values.size):
        if values[w] > values[worst] or (values[w] == values[worst] and entries[w] < entries[worst]):
            worst = w
    return worst


@kernel
def _write_sums(observer):
    n_ops = observer.tallies[Tally.N_OPS]
    values, operators, metrics = observer.scratch[0], observer.window_op, observer.window_metrics
    fill(values, 0.0)
    for w in range(observer.tallies[Tally.IN_WINDOW]):
        for m in range(METRICS):
            values[m * n_ops + operators[w]] += metrics[w, m]
    write_block(observer.features, WINDOW_BLOCK, values, n_ops)


@kernel
def enter_window(observer, op, metrics, value):
    """Enter an improved offspring: it fills a free slot, or replaces the oldest of its operator, or the worst."""
    tallies = observer.tallies
    if tallies[Tally.IN_WINDOW] < observer.window_op.size:
        slot = tallies[Tally.IN_WINDOW]
        tallies[Tally.IN_WINDOW] += 1
    else:
        slot = _oldest_of(observer, op)
        if slot < 0:
            slot = _worst(observer)
    observer.window_op[slot] = op
    observer.window_entry[slot] = tallies[Tally.ENTERED]
    observer.window_value[slot] = value
    for m in range(METRICS):
        observer.window_metrics[slot, m] = metrics[m]
    tallies[Tally.ENTERED] += 1
    _write_sums(observer)
