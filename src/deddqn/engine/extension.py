"""Other settings for a run that has begun, such as another budget: its memory moves to an arena of their size.

A run plans with its budget: the population shrinks over it, a reserve at its end is for the best population, and the
policy reads how much is left. With another one the run is where it would stand in a plan for that: the population
gets the size that the schedule has for the evaluations made so far. New individuals are drawn uniformly and evaluated
next, as those of a restart are; the others keep their values, and everything that was learned stays.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from deddqn._jit import fill, kernel, linked
from deddqn.de.cma_es import sample_population
from deddqn.de.cma_state import Model
from deddqn.de.config import DEConfig
from deddqn.de.discrete import points_left
from deddqn.de.generation import begin_generation, reset_generation
from deddqn.de.initialization import draw_individuals
from deddqn.de.local_search import leave_local_search, show_best_point
from deddqn.de.population_reduction import scheduled_size
from deddqn.de.restart import enlarge_population
from deddqn.de.state import DE_STATE, Counter, End, Scalar
from deddqn.de.termination import target_reached
from deddqn.engine.run import Run
from deddqn.engine.run_memory import EPISODE, Episode, Link, open_run, view_run
from deddqn.features.buffers import OBSERVER
from deddqn.policies.policy_kernels import call_renumber

SET_COUNTERS = (
    *(Counter.ALLOCATED, Counter.BUDGET, Counter.HORIZON, Counter.FINAL_POPULATION, Counter.FIRST_POPULATION),
    *(Counter.FINAL_EVALUATIONS, Counter.WHOLE_BUDGET, Counter.HAND_OVER, Counter.DECISION),
    *(Counter.LOCAL_FROM, Counter.LOCAL_DONE),
)
SET_SCALARS = (Scalar.RESTART_TOLERANCE, Scalar.TARGET_VALUE, Scalar.CMA_EXTENT, Scalar.RATE_SHARE)
"""What the settings say; everything else is what the run has come to."""


def extend_run(run: Run, config: DEConfig) -> None:
    """Let `run`, which is between two generations, continue with `config`: another budget, and other populations.

    The new population size must be at least the size in use.
    """
    if run.spec.asynchronous:
        raise ValueError("updating must not be 'asynchronous' in a search that is extended")
    if not run.between_generations:
        raise ValueError("a run can be extended between two generations only")
    tried = bool(run.de_state.counters[Counter.TRIED]) and not was_rejected(run)
    if tried:  # what has been begun is not taken back
        config = replace(config, cma_share=run.spec.config.cma_share)
    elif run.evaluations >= config.hand_over:  # it would be too late
        config = replace(config, cma_share=0.0)
    if run.de_state.counters[Counter.LOCAL_PHASE]:
        interrupt_local_search(run.address)
    old = view_run(run.arena)
    run.move(replace(run.spec, config=config))
    copy_memory(old, view_run(run.arena))
    run.de_state.counters[Counter.TRIED] = tried
    if run.evaluations >= config.local_from:  # too late for a local search
        run.de_state.counters[Counter.LOCAL_DONE] = 1
    known = run.individuals
    replan(run.address)
    if not run.compiled and run.individuals > known and hasattr(run.spec.policy, "renumber"):
        run.spec.policy.renumber(np.full(run.individuals, -1))


def was_rejected(run: Run) -> bool:
    """Whether CMA-ES was considered and not tried, so that a longer search may consider it again."""
    counters, alone = run.de_state.counters, run.spec.config.cma_share == 1.0
    return bool(counters[Counter.TRIED]) and not alone and run.de_state.model[Model.TAKEN_OVER_AT] == 0.0


def copy_memory(old: Episode, new: Episode) -> None:
    """Copy what a run knows into the memory of a run that has not begun; settings there stay."""
    counters, scalars = new.de_state.counters, new.de_state.scalars
    archive_room = int(counters[Counter.ARCHIVE_ROOM])
    set_counters, set_scalars = counters[list(SET_COUNTERS)], scalars[list(SET_SCALARS)]
    for layout, source, target in zip((EPISODE, DE_STATE, OBSERVER), old, new, strict=True):
        for field in layout.fields:
            have, room = getattr(source, field.name), getattr(target, field.name)
            part = tuple(slice(min(a, b)) for a, b in zip(have.shape, room.shape, strict=True))
            if field.name != "links":
                room[part] = have[part]
    counters[list(SET_COUNTERS)], scalars[list(SET_SCALARS)] = set_counters, set_scalars
    counters[Counter.BEST_POPULATION_SIZE] = min(
        counters[Counter.BEST_POPULATION_SIZE], new.de_state.best_population_fitness.size
    )
    rows, members = len(new.de_state.fitness), len(new.de_state.parents)
    for indices, room, unused in (
        (new.de_state.order, rows, 0),
        (new.de_state.origin, rows, -1),
        (new.de_state.donors, rows, 0),
        (new.de_state.archive_donors, members, 0),
    ):
        indices[indices >= room] = unused  # of rows that there are no more
    first, allocated = int(old.de_state.counters[Counter.ALLOCATED]), int(counters[Counter.ALLOCATED])
    archived = min(int(counters[Counter.ARCHIVED]), archive_room)
    new.de_state.parents[allocated : allocated + archived] = old.de_state.parents[first : first + archived]
    counters[Counter.ARCHIVED] = archived
    counters[Counter.ARCHIVE_ROOM] = min(int(counters[Counter.ARCHIVE_ROOM]), archive_room)
    if new.de_state.training_values.size != old.de_state.training_values.size:  # a surrogate that nobody has fitted
        counters[[Counter.TRAINING_POINTS, Counter.RECENT_POINTS, Counter.SURROGATE_CHECKED, Counter.REFIT_AT]] = 0


@kernel("none(int64)")
def interrupt_local_search(run):
    """End a local search before its time; what it has learned is lost, and the best point stays."""
    leave_local_search(open_run(run).de_state)


@kernel("none(int64)")
def replan(run):
    """Begin a generation under the settings that were written; where the schedule wants more individuals, draw them."""
    core, de_state, _ = open_run(run)
    counters, links = de_state.counters, core.links
    if counters[Counter.TRIED]:
        counters[Counter.BUDGET] = counters[Counter.HORIZON] = counters[Counter.WHOLE_BUDGET]
    if counters[Counter.SAMPLING]:
        if target_reached(de_state.scalars):
            counters[Counter.ENDED] = End.TARGET
        elif counters[Counter.EVALUATIONS] >= counters[Counter.WHOLE_BUDGET]:
            counters[Counter.ENDED] = End.BUDGET
        else:
            counters[Counter.ENDED] = End.NOT_YET
            sample_population(de_state)
        if counters[Counter.ENDED]:
            show_best_point(de_state)
        reset_generation(de_state)
        return
    known, size = counters[Counter.POPULATION], scheduled_size(de_state)
    counters[Counter.ENDED] = End.NOT_YET
    if de_state.visited.size:
        size = min(size, known + points_left(counters))
    if size <= known:
        begin_generation(de_state, links[Link.SEARCHERS])
        return
    enlarge_population(de_state, size)
    draw_individuals(de_state, known)
    for i in range(known, size):
        de_state.fitness[i] = math.inf
        fill(de_state.parent_pairs[i], math.inf)
    begin_generation(de_state, links[Link.SEARCHERS])
    for k in range(min(size, de_state.origin.size)):
        de_state.origin[k] = -1
    if links[Link.RENUMBER]:
        call_renumber(links[Link.RENUMBER], (linked(links, Link.SETUP), core.memory, de_state.origin[:size]))
    if counters[Counter.INITIALISED] and not counters[Counter.ENDED]:
        evaluate_newcomers(de_state, known)


@kernel
def evaluate_newcomers(de_state, known):
    """Let the values of the parents from `known` on be asked for next, as far as the budget allows."""
    counters = de_state.counters
    left = counters[Counter.BUDGET] - counters[Counter.EVALUATIONS]
    counters[Counter.INITIALISED] = 0
    counters[Counter.GENERATION_SIZE] = known + min(counters[Counter.POPULATION] - known, left)
    counters[Counter.TOLD] = counters[Counter.RECORDED] = known
    for k in range(known):
        de_state.told[k] = 1
