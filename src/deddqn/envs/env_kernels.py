"""Kernels of the environments, over many runs; `deddqn.engine.vectorized_kernels` says how threads share the runs."""

from __future__ import annotations

from deddqn._jit import copy, fill, kernel
from deddqn.de.state import Counter, Scalar
from deddqn.engine.loop import evaluate_population
from deddqn.engine.run_memory import open_run
from deddqn.engine.stepping import act, evaluate_proposed, observe
from deddqn.engine.vectorized_kernels import next_run

NO_ACTION = -1
"""The "action" of a lane that is only observed: one that has just begun its run."""


@kernel("none(float64[:,::1], int64[::1], int64[::1], float64[::1], boolean[::1], float32[:,::1])")
def step_runs(arenas, turn, actions, rewards, ends, states):
    """Apply one operator per lane (or `NO_ACTION`), and observe the decision that follows.

    Writes ``rewards`` (lanes,), ``ends`` (lanes,) and ``states`` (lanes, features) float32; the state after the end,
    where there is nothing to decide, is all zeros. A run that ends with its initial population (its target is reached)
    says so with its first action, which is not applied.
    """
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        run = arenas[lane].ctypes.data
        core, de_state, observer = open_run(run)
        counters = de_state.counters
        rewards[lane] = 0.0
        evaluate_population(run)
        if actions[lane] != NO_ACTION and observe(run) >= 0:
            act(run, actions[lane])
            rewards[lane] = core.rewards[evaluate_proposed(run)]
            evaluate_population(run)
        ends[lane] = actions[lane] != NO_ACTION and counters[Counter.ENDED] != 0
        if observe(run) >= 0:
            copy(observer.features, states[lane])
        else:
            fill(states[lane], 0.0)


@kernel("none(float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], int64[:,::1])")
def report_runs(arenas, turn, figures, points, applications):
    """Write what is known about every run.

    ``figures`` (3, lanes): evaluations, best value, error (NaN where the optimum is unknown); ``points`` (lanes, D):
    the best point, NaN beyond the run's own dimension; ``applications`` (lanes, K): how often every operator was used.
    """
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        de_state = open_run(arenas[lane].ctypes.data).de_state
        best = de_state.scalars[Scalar.F_BSF]
        figures[0, lane] = de_state.counters[Counter.EVALUATIONS]
        figures[1, lane] = best
        figures[2, lane] = best - de_state.scalars[Scalar.OPTIMUM]
        fill(points[lane], float("nan"))
        copy(de_state.best_point, points[lane])
        copy(de_state.applications, applications[lane])
