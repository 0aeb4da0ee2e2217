"""Compiled watching: runs advance as always, and every decision is written down with what it rested on."""

from __future__ import annotations

from deddqn._jit import caller_of, floats_at, kernel
from deddqn.de.state import Counter
from deddqn.engine.loop import evaluate_population, propose_pending
from deddqn.engine.run_memory import open_run
from deddqn.engine.stepping import evaluate_proposed
from deddqn.engine.vectorized_kernels import next_run
from deddqn.policies.mlp import forward
from deddqn.policies.softmax import BLIND, INPUT, write_inputs

SEE_SIGNATURE = "int64(float64[::1], float64[::1], int64, int64, float64[::1])"
"""see(memory, features, n_ops, i, inputs) -> whether the decision rests on the inputs, which it writes"""

call_see = caller_of(SEE_SIGNATURE)
PROGRESS, STAGNATION = 0, 1  # columns of `times`


@kernel(SEE_SIGNATURE)
def see_nothing(memory, features, n_ops, i, inputs):
    """A policy that looks at no state, or at none that can be laid out in a row."""
    return 0


@kernel(SEE_SIGNATURE)
def see_features(memory, features, n_ops, i, inputs):
    """A Q-network sees the features of Table 1."""
    for k in range(inputs.size):
        inputs[k] = features[k]
    return 1


@kernel(SEE_SIGNATURE)
def see_inputs(memory, features, n_ops, i, inputs):
    """A softmax policy sees its facts, unless no finite value is known yet: then it draws blindly."""
    write_inputs(memory, features, n_ops, i)
    for k in range(inputs.size):
        inputs[k] = memory[INPUT + k]
    return 0 if memory[BLIND] != 0.0 else 1


WATCH_SIGNATURE = (
    "none(float64[:,::1], int64[::1], int64, int64[:,::1], int64[:,::1], float64[:,:,::1], int64[:,::1], "
    "float64[:,:,::1], int64[::1])"
)


@kernel(WATCH_SIGNATURE)
def record_decisions(arenas, turn, see, choices, generations, times, seen, inputs, made):
    """Run every lane for as many decisions as there is room for, and write them down.

    ``choices``, ``generations`` and ``seen`` (lanes, n), ``times`` (lanes, n, 2) with progress and stagnation as
    shares of the budget, ``inputs`` (lanes, n, width) as `see` writes them; ``made`` (lanes,) counts the decisions. A
    lane that ends stops; its first evaluations are made if they were not.
    """
    for _ in range(len(arenas)):
        lane = next_run(turn)
        if lane >= len(arenas):
            break
        run = arenas[lane].ctypes.data
        core, de_state, observer = open_run(run)
        counters = de_state.counters
        evaluate_population(run)
        k = 0
        while k < choices.shape[1] and not counters[Counter.ENDED]:
            propose_pending(open_run(run))
            i = counters[Counter.TOLD]
            choices[lane, k] = de_state.choices[i]
            generations[lane, k] = counters[Counter.GENERATION]
            times[lane, k, PROGRESS] = counters[Counter.EVALUATIONS] / counters[Counter.BUDGET]
            times[lane, k, STAGNATION] = counters[Counter.STAGNATION] / counters[Counter.BUDGET]
            arguments = (core.memory, observer.features, counters[Counter.N_OPS], i, inputs[lane, k])
            seen[lane, k] = call_see(see, arguments)
            evaluate_proposed(run)
            evaluate_population(run)
            k += 1
        made[lane] = k


@kernel("none(float64[::1], float64[::1], float64[:,::1], float64[:,::1])", numeric=True)
def network_values(setup, memory, inputs, values):
    """The Q-values (n, K) of the rows of `inputs` (n, features). Writes `values`, and `memory` as scratch."""
    for k in range(inputs.shape[0]):
        n_ops = values.shape[1]
        found = floats_at(forward(setup, memory, inputs[k]), (n_ops,))
        for op in range(n_ops):
            values[k, op] = found[op]
