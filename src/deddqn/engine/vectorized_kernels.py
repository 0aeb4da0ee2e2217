"""Kernels over many runs: each takes the arenas of all lanes, and does the lanes whose turn nobody else has taken.

Several threads call one kernel with the same `turn`, an integer that starts at 0: a lane is done by whoever is free.
"""

from __future__ import annotations

from deddqn._jit import copy, count_at, kernel
from deddqn.de.state import Counter, Scalar
from deddqn.engine.loop import advance, evaluate_population, propose_pending
from deddqn.engine.run_memory import open_run
from deddqn.engine.stepping import act, evaluate_proposed, observe


@kernel
def next_run(turn):
    """Take the next turn; the number of lanes or more when there is none left."""
    return count_at(turn.ctypes.data)


@kernel("none(float64[:,::1], int64[::1], int64[::1])")
def advance_runs(arenas, turn, until):
    """Run every lane until it has made ``until[lane]`` evaluations in all, or has ended."""
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        advance(arenas[lane].ctypes.data, until[lane])


@kernel("none(float64[:,::1], int64[::1], float32[:,:,::1], int64[:,::1], float64[:,::1], boolean[:,::1], int64[::1])")
def record_runs(arenas, turn, states, actions, rewards, ends, made):
    """Run every lane for as many decisions as the record holds, and write them down.

    ``states`` (lanes, n, features) float32, ``actions`` (lanes, n), ``rewards`` (lanes, n), ``ends`` (lanes, n);
    ``made`` (lanes,) counts the decisions. A lane that ends stops; its first evaluations are made if they were not.
    If ``states`` has a row more than there are decisions, the state that follows the last decision is written too.
    """
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        run = arenas[lane].ctypes.data
        core, de_state, observer = open_run(run)
        counters, features = de_state.counters, observer.features
        evaluate_population(run)
        k = 0
        while k < actions.shape[1] and not counters[Counter.ENDED]:
            propose_pending(open_run(run))
            copy(features, states[lane, k])
            i = evaluate_proposed(run)
            actions[lane, k] = de_state.choices[i]
            rewards[lane, k] = core.rewards[i]
            evaluate_population(run)
            ends[lane, k] = counters[Counter.ENDED] != 0
            k += 1
        made[lane] = k
        if states.shape[1] > actions.shape[1] and observe(run) >= 0:
            copy(features, states[lane, k])


@kernel("none(float64[:,::1], int64[::1], float64[:,::1])")
def summarise_runs(arenas, turn, summary):
    """Write best value so far, summed reward, evaluations and reason to end (see `End`) of every lane."""
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        core, de_state, _ = open_run(arenas[lane].ctypes.data)
        summary[lane, 0] = de_state.scalars[Scalar.F_BSF]
        summary[lane, 1] = core.total_reward[0]
        summary[lane, 2] = de_state.counters[Counter.EVALUATIONS]
        summary[lane, 3] = de_state.counters[Counter.ENDED]


@kernel
def observe_lanes(arenas, turn, states):
    """Bring every lane to its next decision and write its state; the initial population is evaluated if it was not."""
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        run = arenas[lane].ctypes.data
        _, _, observer = open_run(run)
        evaluate_population(run)
        if observe(run) >= 0:
            copy(observer.features, states[lane])


@kernel
def act_lanes(arenas, turn, actions, rewards, ends, states):
    """Apply one chosen operator per lane that has not ended, and observe what follows."""
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        run = arenas[lane].ctypes.data
        core, de_state, observer = open_run(run)
        evaluate_population(run)
        rewards[lane] = 0.0
        ends[lane] = de_state.counters[Counter.ENDED] != 0
        if observe(run) < 0:
            continue
        act(run, actions[lane])
        i = evaluate_proposed(run)
        rewards[lane] = core.rewards[i]
        evaluate_population(run)
        ends[lane] = de_state.counters[Counter.ENDED] != 0
        if observe(run) >= 0:
            copy(observer.features, states[lane])
