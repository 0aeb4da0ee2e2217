"""Kernels of the environments, over many runs; `deddqn.engine.vectorized_kernels` says how threads share the runs."""

from __future__ import annotations

from deddqn._jit import copy, fill, kernel
from deddqn.de.state import Counter, Scalar
from deddqn.engine.loop import evaluate_population
from deddqn.engine.run_memory import open_run
from deddqn.engine.stepping import act, evaluate_proposed, observe
from deddqn.engine.vectorized_kernels import next_run

NO_ACTION = -1
"""The "action" of a run that is only observed: one that has just begun its run."""


@kernel("none(float64[:,::1], int64[::1], int64[::1], float64[::1], boolean[::1], float32[:,::1])")
def step_runs(arenas, turn, actions, rewards, ends, states):
    """Apply one operator per run (or `NO_ACTION`), and observe the decision that follows.

    Writes ``rewards`` (runs,), ``ends`` (runs,) and ``states`` (runs, features) float32; the state after the end,
    where there is nothing to decide, is all zeros. A run that ends with its initial population (its target is reached)
    says so with its first action, which is not applied.
    """
    for _ in range(len(arenas)):
        index = next_run(turn)
        if index >= len(arenas):
            break
        run = arenas[index].ctypes.data
        core, de_state, observer = open_run(run)
        counters = de_state.counters
        rewards[index] = 0.0
        evaluate_population(run)
        if actions[index] != NO_ACTION and observe(run) >= 0:
            act(run, actions[index])
            rewards[index] = core.rewards[evaluate_proposed(run)]
            evaluate_population(run)
        ends[index] = actions[index] != NO_ACTION and counters[Counter.ENDED] != 0
        if observe(run) >= 0:
            copy(observer.features, states[index])
        else:
            fill(states[index], 0.0)


@kernel("none(float64[:,::1], int64[::1], float64[:,::1], float64[:,::1], int64[:,::1])")
def report_runs(arenas, turn, figures, points, applications):
    """Write what is known about every run.

    ``figures`` (3, runs): evaluations, best value, error (NaN where the optimum is unknown); ``points`` (runs, D):
    the best point, NaN beyond the run's own dimension; ``applications`` (runs, K): how often every operator was used.
    """
    for _ in range(len(arenas)):
        index = next_run(turn)
        if index >= len(arenas):
            break
        de_state = open_run(arenas[index].ctypes.data).de_state
        best = de_state.scalars[Scalar.F_BSF]
        figures[0, index] = de_state.counters[Counter.EVALUATIONS]
        figures[1, index] = best
        figures[2, index] = best - de_state.scalars[Scalar.OPTIMUM]
        fill(points[index], float("nan"))
        copy(de_state.best_point, points[index])
        copy(de_state.applications, applications[index])
