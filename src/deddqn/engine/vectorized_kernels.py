"""Kernels over many runs: each takes the arenas of all runs, and does the runs whose turn nobody else has taken.

Several threads call one kernel with the same `turn`, an integer that starts at 0: a run is done by whoever is free.
"""

from __future__ import annotations

from deddqn._jit import copy, count_at, kernel
from deddqn.de.state import Counter, Scalar
from deddqn.engine.loop import advance, evaluate_population, propose_pending
from deddqn.engine.run_memory import open_run
from deddqn.engine.stepping import evaluate_proposed, observe


@kernel
def next_run(turn):
    """Take the next turn; the number of runs or more when there is none left."""
    return count_at(turn.ctypes.data)


@kernel("none(float64[:,::1], int64[::1], int64[::1])")
def advance_runs(arenas, turn, until):
    """Advance every run until it has made ``until[index]`` evaluations in all, or has ended."""
    for _ in range(len(arenas)):
        index = next_run(turn)
        if index >= len(arenas):
            break
        advance(arenas[index].ctypes.data, until[index])


@kernel("none(float64[:,::1], int64[::1], float32[:,:,::1], int64[:,::1], float64[:,::1], boolean[:,::1], int64[::1])")
def record_runs(arenas, turn, states, actions, rewards, ends, made):
    """Advance every run for as many decisions as the record holds, and write them down.

    ``states`` (runs, n, features) float32, ``actions`` (runs, n), ``rewards`` (runs, n), ``ends`` (runs, n);
    ``made`` (runs,) counts the decisions. A run that ends stops; its first evaluations are made if they were not.
    If ``states`` has a row more than there are decisions, the state that follows the last decision is written too.
    """
    for _ in range(len(arenas)):
        index = next_run(turn)
        if index >= len(arenas):
            break
        run = arenas[index].ctypes.data
        core, de_state, observer = open_run(run)
        counters, features = de_state.counters, observer.features
        evaluate_population(run)
        k = 0
        while k < actions.shape[1] and not counters[Counter.ENDED]:
            propose_pending(open_run(run))
            copy(features, states[index, k])
            i = evaluate_proposed(run)
            actions[index, k] = de_state.choices[i]
            rewards[index, k] = core.rewards[i]
            evaluate_population(run)
            ends[index, k] = counters[Counter.ENDED] != 0
            k += 1
        made[index] = k
        if states.shape[1] > actions.shape[1] and observe(run) >= 0:
            copy(features, states[index, k])


@kernel("none(float64[:,::1], int64[::1], float64[:,::1])")
def summarise_runs(arenas, turn, summary):
    """Write best value so far, summed reward, evaluations and reason to end (see `End`) of every run."""
    for _ in range(len(arenas)):
        index = next_run(turn)
        if index >= len(arenas):
            break
        core, de_state, _ = open_run(arenas[index].ctypes.data)
        summary[index, 0] = de_state.scalars[Scalar.F_BSF]
        summary[index, 1] = core.total_reward[0]
        summary[index, 2] = de_state.counters[Counter.EVALUATIONS]
        summary[index, 3] = de_state.counters[Counter.ENDED]
