"""Kernels over many runs: each takes the arenas of all lanes, and does the lanes whose turn nobody else has taken.

Several threads call one kernel with the same `turn`, an integer that starts at 0: a lane is done by whoever is free.
"""

from __future__ import annotations

from numba import njit

from deddqn.compiled import ENGINE, copy, count_at
from deddqn.de.state import Count, Mark
from deddqn.engine.loop import advance, evaluate_population, propose_pending
from deddqn.engine.memory import open_episode
from deddqn.engine.outside import act, evaluate_proposed, observe


@njit(**ENGINE)
def next_lane(turn):
    """Take the next turn; the number of lanes or more when there is none left."""
    return count_at(turn.ctypes.data)


@njit(**ENGINE)
def advance_lanes(arenas, turn, until):
    """Run every lane until it has made ``until[lane]`` evaluations in all, or has ended."""
    for _ in range(len(arenas)):
        lane = next_lane(turn)
        if lane >= len(arenas):
            break
        advance(arenas[lane], until[lane])


@njit(**ENGINE)
def record_lanes(arenas, turn, states, actions, rewards, ends, made):
    """Run every lane for as many decisions as the record holds, and write them down.

    ``states`` (lanes, n, features) float32, ``actions`` (lanes, n), ``rewards`` (lanes, n), ``ends`` (lanes, n);
    ``made`` (lanes,) counts the decisions. A lane that ends stops; its first evaluations are made if they were not.
    If ``states`` has a row more than there are decisions, the state that follows the last decision is written too.
    """
    for _ in range(len(arenas)):
        lane = next_lane(turn)
        if lane >= len(arenas):
            break
        arena = arenas[lane]
        core, search, observer = open_episode(arena)
        counts, features = search.counts, observer.features
        evaluate_population(arena)
        k = 0
        while k < actions.shape[1] and not counts[Count.ENDED]:
            propose_pending(open_episode(arena))
            copy(features, states[lane, k])
            i = evaluate_proposed(arena)
            actions[lane, k] = search.choices[i]
            rewards[lane, k] = core.rewards[i]
            evaluate_population(arena)
            ends[lane, k] = counts[Count.ENDED] != 0
            k += 1
        made[lane] = k
        if states.shape[1] > actions.shape[1] and observe(arena) >= 0:
            copy(features, states[lane, k])


@njit(**ENGINE)
def summarise_lanes(arenas, turn, summary):
    """Write best value so far, summed reward, evaluations and reason to end (see `End`) of every lane."""
    for _ in range(len(arenas)):
        lane = next_lane(turn)
        if lane >= len(arenas):
            break
        core, search, _ = open_episode(arenas[lane])
        summary[lane, 0] = search.marks[Mark.F_BSF]
        summary[lane, 1] = core.total_reward[0]
        summary[lane, 2] = search.counts[Count.EVALUATIONS]
        summary[lane, 3] = search.counts[Count.ENDED]


@njit(**ENGINE)
def observe_lanes(arenas, turn, states):
    """Bring every lane to its next decision and write its state; the initial population is evaluated if it was not."""
    for _ in range(len(arenas)):
        lane = next_lane(turn)
        if lane >= len(arenas):
            break
        arena = arenas[lane]
        _, _, observer = open_episode(arena)
        evaluate_population(arena)
        if observe(arena) >= 0:
            copy(observer.features, states[lane])


@njit(**ENGINE)
def act_lanes(arenas, turn, actions, rewards, ends, states):
    """Apply one chosen operator per lane that has not ended, and observe what follows."""
    for _ in range(len(arenas)):
        lane = next_lane(turn)
        if lane >= len(arenas):
            break
        arena = arenas[lane]
        core, search, observer = open_episode(arena)
        evaluate_population(arena)
        rewards[lane] = 0.0
        ends[lane] = search.counts[Count.ENDED] != 0
        if observe(arena) < 0:
            continue
        act(arena, actions[lane])
        i = evaluate_proposed(arena)
        rewards[lane] = core.rewards[i]
        evaluate_population(arena)
        ends[lane] = search.counts[Count.ENDED] != 0
        if observe(arena) >= 0:
            copy(observer.features, states[lane])
