"""Recording of decisions, compiled: runs advance as always, and every decision is written down with its inputs."""

from __future__ import annotations

from deddqn._jit import caller_of, floats_at, kernel
from deddqn.de.state import Counter
from deddqn.engine.loop import evaluate_population, propose_pending
from deddqn.engine.run_memory import open_run
from deddqn.engine.stepping import evaluate_proposed
from deddqn.engine.vectorized_kernels import next_run
from deddqn.policies.mlp import forward
from deddqn.policies.softmax import BLIND, INPUT, write_inputs

READ_SIGNATURE = "int64(float64[::1], float64[::1], int64, int64, float64[::1])"
"""read(memory, features, n_ops, i, inputs) -> whether the decision depends on the inputs, which it writes"""

call_reader = caller_of(READ_SIGNATURE)
CHOICE, GENERATION, USED = 0, 1, 2  # columns of `decisions`
PROGRESS, STAGNATION = 0, 1  # columns of `times`


@kernel(READ_SIGNATURE)
def read_nothing(memory, features, n_ops, i, inputs):
    """A policy without inputs, or with none that form a vector."""
    return 0


@kernel(READ_SIGNATURE)
def read_features(memory, features, n_ops, i, inputs):
    """The inputs of a Q-network: the features of Table 1."""
    for k in range(inputs.size):
        inputs[k] = features[k]
    return 1


@kernel(READ_SIGNATURE)
def read_softmax_inputs(memory, features, n_ops, i, inputs):
    """The inputs of a softmax policy; while no finite value is known, its draws do not depend on them."""
    write_inputs(memory, features, n_ops, i)
    for k in range(inputs.size):
        inputs[k] = memory[INPUT + k]
    return 0 if memory[BLIND] != 0.0 else 1


@kernel("none(float64[:,::1], int64[::1], int64, int64[:,:,::1], float64[:,:,::1], float64[:,:,::1], int64[::1])")
def record_decisions(arenas, turn, read, decisions, times, inputs, made):
    """Advance every run by as many decisions as there is room for, and write them down.

    ``decisions`` (runs, n, 3) with the operator, the generation and whether the inputs were used, ``times`` (runs, n,
    2) with progress and stagnation as fractions of the budget, ``inputs`` (runs, n, width) as `read` writes them;
    ``made`` (runs,) counts the decisions. A run that ends stops; its first evaluations are made if they were not.
    """
    for _ in range(len(arenas)):
        n = next_run(turn)
        if n >= len(arenas):
            break
        run = arenas[n].ctypes.data
        core, de_state, observer = open_run(run)
        counters = de_state.counters
        evaluate_population(run)
        k = 0
        while k < decisions.shape[1] and not counters[Counter.ENDED]:
            propose_pending(open_run(run))
            i = counters[Counter.TOLD]
            decisions[n, k, CHOICE] = de_state.choices[i]
            decisions[n, k, GENERATION] = counters[Counter.GENERATION]
            times[n, k, PROGRESS] = counters[Counter.EVALUATIONS] / counters[Counter.HORIZON]
            times[n, k, STAGNATION] = counters[Counter.STAGNATION] / counters[Counter.HORIZON]
            arguments = (core.memory, observer.features, counters[Counter.N_OPS], i, inputs[n, k])
            decisions[n, k, USED] = call_reader(read, arguments)
            evaluate_proposed(run)
            evaluate_population(run)
            k += 1
        made[n] = k


@kernel("none(float64[::1], float64[::1], float64[:,::1], float64[:,::1])", numeric=True)
def network_values(setup, memory, inputs, values):
    """The Q-values (n, K) of the rows of `inputs` (n, features). Writes `values`, and `memory` as scratch."""
    for k in range(inputs.shape[0]):
        n_ops = values.shape[1]
        found = floats_at(forward(setup, memory, inputs[k]), (n_ops,))
        for op in range(n_ops):
            values[k, op] = found[op]
