"""Table 1 rows 20-83: what the operators did in the last generations, updated when one is finished."""

from __future__ import annotations

from deddqn._jit import fill, kernel
from deddqn.de.improvement import LARGEST_IMPROVEMENT, improvement
from deddqn.de.state import Outcome
from deddqn.features.buffers import Tally
from deddqn.features.layout import HISTORY_BLOCKS, LANDSCAPE, METRICS

SUCCESS_RATE, MEAN_IMPROVEMENT, BEST_CHANGE, BEST_IMPROVEMENT = (
    HISTORY_BLOCKS.index(name) for name in ("success_rate", "mean_improvement", "best_change", "best_improvement")
)


@kernel
def metrics_of(outcome):
    """OM_1..OM_4: improvement over the parent, the best parent, the best so far, and the median parent."""
    value, worst = outcome[Outcome.TRIAL], outcome[Outcome.WSF]
    return (
        improvement(outcome[Outcome.PARENT], value, worst),
        improvement(outcome[Outcome.BEST], value, worst),
        improvement(outcome[Outcome.BSF], value, worst),
        improvement(outcome[Outcome.MEDIAN], value, worst),
    )


@kernel
def note_application(observer, op, metrics):
    """Enter one application of operator `op` into the current generation."""
    tallies = observer.tallies
    n_ops = tallies[Tally.N_OPS]
    slot = tallies[Tally.FINISHED] % (tallies[Tally.GENERATIONS] + 1)
    observer.applications[slot, op] += 1.0
    successes, sums, bests = observer.successes, observer.sums, observer.bests
    for m in range(METRICS):
        if metrics[m] > 0.0:
            at = m * n_ops + op
            successes[slot, at] += 1.0
            sums[slot, at] += metrics[m]
            bests[slot, at] = max(bests[slot, at], metrics[m])


@kernel
def write_block(features, number, values, n_ops):
    """Write `values` into the history block of this number, divided for each metric by its sum of absolute values."""
    start = LANDSCAPE + number * METRICS * n_ops
    for first in range(0, METRICS * n_ops, n_ops):
        total = 0.0
        for at in range(first, first + n_ops):
            total += abs(values[at])
        for at in range(first, first + n_ops):
            features[start + at] = values[at] / total if total > 0.0 else 0.0


@kernel
def _write_sums(observer, current, remembered):
    """Rows 20-35, 36-51 and 68-83: sums over the remembered generations, the slots before `current`."""
    applications, successes, sums, bests = (
        observer.applications, observer.successes, observer.sums, observer.bests
    )  # fmt: skip
    rates, means, best_sums = observer.scratch[0], observer.scratch[1], observer.scratch[2]
    slots, n_ops = applications.shape
    for at in range(rates.size):
        rate, total, best, applied = 0.0, 0.0, 0.0, 0.0
        for back in range(1, remembered + 1):
            slot = (current - back) % slots
            times = applications[slot, at % n_ops]
            applied += times
            rate += successes[slot, at] / times if times > 0.0 else 0.0
            total += sums[slot, at]
            best += bests[slot, at]
        rates[at] = rate
        means[at] = total / applied if applied > 0.0 else 0.0
        best_sums[at] = best
    write_block(observer.features, SUCCESS_RATE, rates, n_ops)
    write_block(observer.features, MEAN_IMPROVEMENT, means, n_ops)
    write_block(observer.features, BEST_IMPROVEMENT, best_sums, n_ops)


@kernel
def _write_best_change(observer, finished):
    """Rows 52-67: relative change of the best OM_m between the last two generations, per extra application."""
    values, bests, applications = observer.scratch[0], observer.bests, observer.applications
    slots, n_ops = applications.shape
    fill(values, 0.0)
    if finished >= 2:
        last = (observer.tallies[Tally.FINISHED] - 1) % slots
        before = (observer.tallies[Tally.FINISHED] - 2) % slots
        for at in range(values.size):
            op = at % n_ops
            change = bests[last, at] - bests[before, at]
            if bests[before, at] > 0.0:
                change /= bests[before, at]
            more = abs(applications[last, op] - applications[before, op])
            if more > 0.0:
                change /= more
            values[at] = min(max(change, -LARGEST_IMPROVEMENT), LARGEST_IMPROVEMENT)
    write_block(observer.features, BEST_CHANGE, values, n_ops)


@kernel
def open_generation(observer, slot):
    """Empty a slot for the generation that begins."""
    fill(observer.applications[slot], 0.0)
    fill(observer.successes[slot], 0.0)
    fill(observer.sums[slot], 0.0)
    fill(observer.bests[slot], 0.0)


@kernel
def finish_history(observer):
    """Close the current generation, rewrite rows 20-83 and open the next one in the oldest slot."""
    tallies = observer.tallies
    tallies[Tally.FINISHED] += 1
    remembered = min(tallies[Tally.FINISHED], tallies[Tally.GENERATIONS])
    slot = tallies[Tally.FINISHED] % (tallies[Tally.GENERATIONS] + 1)
    _write_sums(observer, slot, remembered)
    _write_best_change(observer, remembered)
    open_generation(observer, slot)
