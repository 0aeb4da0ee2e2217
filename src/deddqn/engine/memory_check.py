"""Memory of a run that comes from a file: refused before compiled code, which trusts it, sees it.

Three things are checked against a run of the same settings that has not begun: the tables of the records, what every
field declares that it may hold (`deddqn._jit.contents`), and how fields go together (`RULES`). The policy checks what
it has learned.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deddqn._jit import Record
from deddqn._jit.contents import ONE, check_parts, check_record
from deddqn._jit.structs import TABLE_WIDTH
from deddqn.de.cma_state import Model, fewest_samples
from deddqn.de.local_state import Phase
from deddqn.de.portfolio import ADAPTS
from deddqn.de.state import DE_STATE, Counter, Scalar, known_individuals
from deddqn.engine.run_memory import EPISODE, Episode, view_run
from deddqn.engine.run_spec import RunSpec, write_run
from deddqn.features.buffers import OBSERVER, Tally
from deddqn.policies.policy import CompiledPolicy

SMALLEST_DRAWN = 1e-30
"""Below every F that is ever drawn (`draw_scale` subtracts numbers near 1); much smaller ones have squares of 0."""


def check_arena(spec: RunSpec, arena: np.ndarray) -> None:
    """Refuse (ValueError) an arena that the settings `spec` cannot lead to, or that compiled code cannot run."""
    if arena.dtype != np.float64 or arena.shape != (spec.size,):
        raise ValueError(f"the memory of the search must be {spec.size} numbers, got {arena.dtype} {arena.shape}")
    fresh = np.zeros(spec.size)
    write_run(spec, fresh)
    begun = view_run(fresh)
    starts = [(record.address - fresh.ctypes.data) // 8 for record in begun]
    for layout, start in zip((EPISODE, DE_STATE, OBSERVER), starts, strict=True):
        table = slice(start, start + TABLE_WIDTH * len(layout.fields))
        if arena[table].tobytes() != fresh[table].tobytes():
            raise ValueError(f"the memory of the search does not match its settings, in the table of {layout.name}")
    for layout, start, first, sizes in zip((EPISODE, DE_STATE, OBSERVER), starts, begun, spec.sizes(), strict=True):
        check_record(layout, layout.view(arena, start), first, sizes)
    episode = view_run(arena)
    for rule, holds in RULES.items():
        if not holds(episode):
            raise ValueError(f"the memory of the search breaks the rule: {rule}")
    population = int(known_individuals(episode.de_state.counters))
    asked = population > 0  # never where CMA-ES searches alone
    if asked and isinstance(spec.policy, CompiledPolicy) and spec.policy.memory_parts is not None:
        parts = spec.policy.memory_parts(spec.policy.setup, len(spec.portfolio), population)
        check_parts(f"memory of {spec.policy.name}", episode.core.memory, parts)


# How fields go together


def _told(episode: Episode) -> bool:
    counters, told = episode.de_state.counters, episode.de_state.told
    if counters[Counter.ASYNCHRONOUS]:
        return not told.any()
    size = counters[Counter.GENERATION_SIZE]
    return int(told[:size].sum()) == counters[Counter.TOLD] and not told[size:].any()


def _population(episode: Episode) -> bool:
    counters = episode.de_state.counters
    tried, alone = counters[Counter.TRIED], counters[Counter.HAND_OVER] == 0
    if counters[Counter.BUDGET] != counters[Counter.WHOLE_BUDGET if tried else Counter.DECISION]:
        return False
    if tried and episode.de_state.recent.size == 0:
        return False  # CMA-ES has no memory
    if not counters[Counter.LOCAL_DONE] and episode.de_state.local_point.size == 0:
        return False  # the local search has none
    if counters[Counter.LOCAL_PHASE]:
        return _local_population(episode)
    if counters[Counter.SAMPLING]:
        samples, dimension = episode.de_state.model[Model.LAMBDA], episode.de_state.model_mean.size
        fits = counters[Counter.POPULATION] == samples or counters[Counter.ENDED]
        fits = fits and fewest_samples(dimension) <= samples >= counters[Counter.POPULATION]
        if not (tried and fits and counters[Counter.INITIALISED] == 0):
            return False
    if counters[Counter.SAMPLING] and alone:
        return bool(known_individuals(counters) == 0)
    return bool(counters[Counter.FINAL_POPULATION] <= known_individuals(counters) <= counters[Counter.ALLOCATED])


def _local_population(episode: Episode) -> bool:
    """While a local search waits for its points, and who searched before it waits, too."""
    counters, dimension = episode.de_state.counters, episode.de_state.local_point.size
    points = {Phase.GRADIENT: dimension, Phase.LINE: 1}[Phase(int(counters[Counter.LOCAL_PHASE]))]
    if not (counters[Counter.LOCAL_DONE] and counters[Counter.INITIALISED] == 0 and counters[Counter.ENDED] == 0):
        return False
    if dimension == 0 or points != counters[Counter.POPULATION]:
        return False
    waiting = counters[Counter.BEST_POPULATION_SIZE]
    if counters[Counter.SAMPLING] and not counters[Counter.TRIED]:
        return False
    if counters[Counter.SAMPLING] and counters[Counter.HAND_OVER] == 0:
        return bool(waiting == 0)
    return bool(counters[Counter.FINAL_POPULATION] <= waiting <= counters[Counter.ALLOCATED])


def _in_turn(episode: Episode) -> bool:
    counters = episode.de_state.counters
    told, recorded = counters[Counter.TOLD], counters[Counter.RECORDED]
    return bool(counters[Counter.DEFERRED] or (told == recorded and counters[Counter.DONORS_DRAWN] <= told + 1))


def _proposed(episode: Episode) -> bool:
    counters = episode.de_state.counters
    if not counters[Counter.INITIALISED]:
        return counters[Counter.DONORS_DRAWN] == 0
    return bool(counters[Counter.ASYNCHRONOUS] or counters[Counter.TOLD] <= counters[Counter.PROPOSED])


def _unfinished(episode: Episode) -> bool:
    counters = episode.de_state.counters
    return bool(counters[Counter.ENDED] or counters[Counter.TOLD] < counters[Counter.GENERATION_SIZE])


def _within_budget(episode: Episode) -> bool:
    counters = episode.de_state.counters
    left = counters[Counter.BUDGET] - counters[Counter.EVALUATIONS]
    if counters[Counter.ASYNCHRONOUS]:
        return counters[Counter.PENDING] <= left
    return counters[Counter.GENERATION_SIZE] - counters[Counter.RECORDED] <= left


def _pending(episode: Episode) -> bool:
    de_state, counters = episode.de_state, episode.de_state.counters
    if not counters[Counter.ASYNCHRONOUS]:
        return True
    recorded = counters[Counter.RECORDED] if counters[Counter.INITIALISED] else 0
    rows = slice(int(recorded), int(recorded + counters[Counter.PENDING]))
    parents, untried = de_state.trial_parents[rows], de_state.untried[rows]
    new = counters[Counter.INITIALISED] == 0 and ((untried == 0) & (parents >= 0)).any()
    fits = recorded + counters[Counter.PENDING] <= len(de_state.trials)
    return bool(fits and (parents < counters[Counter.POPULATION]).all() and not new)


def _rows_in_use(de_state: Record) -> np.ndarray:
    """Rows of trials that were proposed."""
    counters = de_state.counters
    if not counters[Counter.ASYNCHRONOUS]:
        return np.arange(counters[Counter.PROPOSED])
    recorded = counters[Counter.RECORDED] if counters[Counter.INITIALISED] else 0
    rows = np.arange(recorded + counters[Counter.PENDING])
    return rows[de_state.untried[rows] == 0]


def _drawn_factors(episode: Episode) -> bool:
    de_state = episode.de_state
    if de_state.trial_f.size == 0:
        return True
    proposed = _rows_in_use(de_state)
    adapts = np.isin(de_state.adapts[de_state.choices[proposed]], _ADAPT_F)
    drawn = de_state.trial_f[proposed][adapts]
    remembered = de_state.memory_f[np.isin(de_state.adapts, _ADAPT_F)]
    return bool(np.all((drawn >= SMALLEST_DRAWN) & (drawn <= 1.0)) and np.all((remembered > 0.0) & (remembered <= ONE)))


def _surrogate(episode: Episode) -> bool:
    counters, scalars = episode.de_state.counters, episode.de_state.scalars
    fitted = counters[Counter.TRAINING_POINTS] > 0
    if counters[Counter.SURROGATE_CHECKED] == counters[Counter.GENERATION] + 1 and not fitted:
        return False
    return bool(not fitted or scalars[Scalar.SQUARED_LENGTH_SCALE] > 0.0)


def _model(episode: Episode) -> bool:
    model, dimension = episode.de_state.model, episode.de_state.model_mean.size
    if dimension == 0 or not model[Model.SIGMA] > 0.0:
        return True
    return bool(model[Model.SAMPLES] < model[Model.LAMBDA] >= fewest_samples(dimension))


def _window(episode: Episode) -> bool:
    filled = episode.observer.tallies[Tally.IN_WINDOW]
    return bool((episode.observer.window_op[:filled] >= 0).all())


def _bounds(episode: Episode) -> bool:
    return bool((episode.de_state.search_lower <= episode.de_state.search_upper).all())


def _visited(episode: Episode) -> bool:
    visited = episode.de_state.visited
    return bool(episode.de_state.counters[Counter.VISITED] == np.count_nonzero(visited) <= 0.75 * visited.size)


_ADAPT_F = [code for code, name in enumerate(ADAPTS) if "F" in name.split("+")]

RULES: dict[str, Callable[[Episode], bool]] = {
    "the population has a size that DE may have, or CMA-ES, and the budget of its part of the search": _population,
    "TOLD values are marked in told": _told,
    "in sequential mode points are told one by one": _in_turn,
    "what is told was proposed; a new population has no trials": _proposed,
    "a generation with all values is over": _unfinished,
    "the generation fits into the budget": _within_budget,
    "pending points fit into the rows, and their parents into the population": _pending,
    "F is in (0, 1] where it adapts": _drawn_factors,
    "a surrogate that was checked is fitted": _surrogate,
    "a normal distribution has fewer samples than an update needs": _model,
    "the window is filled from its start": _window,
    "bounds are in order": _bounds,
    "the table of evaluated points has room": _visited,
}
"""What makes every step of the loop end, and stay inside of its arrays: a rule in words, and its test."""
