"""A policy that draws the operator with probabilities from a linear softmax of inputs that describe the state of the
run.

========================  ==============================================================================
input                     from
========================  ==============================================================================
constant                  1
progress, its square      t / FE^max (Table 1 row 4)
stagnation                evaluations without a new best, over FE^max (row 6), as x / (x + 0.05)
rank                      of the individual among the parents: 0 best, 1 worst
diversity                 log of the mean distance to donors (rows 7-11) of the last generation over the first
success                   share of the last generation's trials that improved on their parent
dimension                 D / dim^max (row 5)
========================  ==============================================================================

Rank, diversity and success are kept by the policy itself, from what every policy is handed: the features, and in
`learn` the values of parent and trial. In the first generation they are 0.5, 0 and 0.5. While no finite value is known,
there are no inputs, and any operator is drawn.

Where several candidates are made (pre-screening), the one with the highest surrogate score is selected with the
probability 1 / (1 + exp(-gate . inputs)), else the first. A policy without a gate always selects the highest.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from deddqn._jit import fill, kernel, small_integers_at
from deddqn._jit.contents import ANYTHING, COUNT, FINITE, FLAG, ONE, VALUES, Part, whole, within
from deddqn.de.population_statistics import sort_by_fitness
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.de.state import DONORS, Outcome
from deddqn.features.layout import AT, PAPER_STATE
from deddqn.policies.files import PolicyFileError, write_policy_file
from deddqn.policies.policy import CompiledPolicy
from deddqn.policies.policy_kernels import (
    CHOOSE_SIGNATURE,
    END_SIGNATURE,
    LEARN_SIGNATURE,
    RENUMBER_SIGNATURE,
    RESET_SIGNATURE,
    SELECT_CANDIDATE_SIGNATURE,
    PolicyKernels,
)
from deddqn.rng import integer_below, uniform

KIND = "softmax"
INPUTS = ("constant", "progress", "progress squared", "stagnation", "rank", "diversity", "success", "dimension")
N_INPUTS = len(INPUTS)

BUDGET, DIMENSION, STAGNATION, DISTANCE = (
    AT[name] for name in ("remaining_budget", "dimension", "stagnation", "donor_distance")
)
HALF_STAGNATION = 0.05  # a stagnation of 5% of the budget counts one half
SMALLEST_DIVERSITY = 1e-9
DIVERSITY_UNIT = 0.1  # one decade is about a quarter
LARGEST_EXPONENT = 700.0

# The setup: the weights of every operator, then those of prescreening_gate, or none
# The memory: slots, the inputs, then K scores, then NP ranks, NP values and NP indices to sort
DIVERSITY, SUCCESS, FIRST_DISTANCE, DISTANCE_SUM, DECIDED, IMPROVED, RECORDED, POPULATION, OPERATORS, BLIND = range(10)
INPUT = 10
SLOTS = INPUT + N_INPUTS


def memory_size(n_ops: int, n_pop: int) -> int:
    """float64 that a run keeps."""
    return SLOTS + n_ops + 3 * n_pop


def memory_parts(setup: np.ndarray, n_ops: int, n_pop: int) -> list[Part]:
    """What the memory may hold; the inputs, scores and indices are scratch."""
    single = {"diversity": FINITE, "success": within(0, ONE), "first distance": within(0, ONE)}
    single |= {"distance sum": within(0, math.inf), "decided": COUNT, "improved": COUNT, "recorded": whole(0, n_pop)}
    single |= {"population": whole(n_pop, n_pop), "operators": whole(n_ops, n_ops), "blind": FLAG}
    scratch = [("inputs", N_INPUTS, ANYTHING), ("scores", n_ops, ANYTHING)]
    learned = [("ranks", n_pop, within(0, ONE)), ("values", n_pop, VALUES)]
    return [*((name, 1, contents) for name, contents in single.items()), *scratch, *learned]


@kernel(RESET_SIGNATURE)
def reset(setup, memory, n_ops, n_pop):
    """Before anything is known: every rank is 0.5."""
    fill(memory[:SLOTS], 0.0)
    memory[SUCCESS] = 0.5
    memory[POPULATION], memory[OPERATORS] = n_pop, n_ops
    fill(memory[SLOTS + n_ops : SLOTS + n_ops + n_pop], 0.5)
    fill(memory[SLOTS + n_ops + n_pop : SLOTS + n_ops + 2 * n_pop], math.inf)
    return 0


@kernel
def write_inputs(memory, features, n_ops, i):
    """Write what the decision for individual `i` rests on, in the order of `FACTS`, to ``memory[INPUT:SLOTS]``."""
    progress = 1.0 - features[BUDGET]
    stagnation = features[STAGNATION]
    memory[INPUT] = 1.0
    memory[INPUT + 1] = progress
    memory[INPUT + 2] = progress * progress
    memory[INPUT + 3] = stagnation / (stagnation + HALF_STAGNATION)
    memory[INPUT + 4] = memory[SLOTS + n_ops + i]
    memory[INPUT + 5] = memory[DIVERSITY]
    memory[INPUT + 6] = memory[SUCCESS]
    memory[INPUT + 7] = features[DIMENSION]


@kernel
def sum_inputs(setup, row, memory):
    """The inputs, weighted with row number `row` of the setup."""
    total = 0.0
    for j in range(N_INPUTS):
        total += setup[row * N_INPUTS + j] * memory[INPUT + j]
    return total


@kernel(CHOOSE_SIGNATURE)
def choose(setup, memory, features, stream, n_ops, i):
    """Draw an operator with probability proportional to exp(weights . inputs). Records the donors' distances."""
    for k in range(DONORS):
        memory[DISTANCE_SUM] += features[DISTANCE + k]
    memory[DECIDED] += 1.0
    if memory[BLIND] != 0.0:
        return integer_below(stream, n_ops)
    write_inputs(memory, features, n_ops, i)
    highest = -math.inf
    for op in range(n_ops):
        memory[SLOTS + op] = sum_inputs(setup, op, memory)
        highest = max(highest, memory[SLOTS + op])
    total = 0.0
    for op in range(n_ops):
        memory[SLOTS + op] = math.exp(memory[SLOTS + op] - highest)
        total += memory[SLOTS + op]
    left = uniform(stream) * total
    op = 0
    while op < n_ops - 1 and left >= memory[SLOTS + op]:
        left -= memory[SLOTS + op]
        op += 1
    return op


@kernel(SELECT_CANDIDATE_SIGNATURE)
def select_candidate(setup, memory, candidate_scores, stream):
    """The candidate with the highest score if the gate opens, else the first; also while no value was finite."""
    if memory[BLIND] != 0.0 or not gate_opens(setup, memory, stream):
        return 0
    best = 0
    for k in range(1, candidate_scores.size):
        if candidate_scores[k] > candidate_scores[best]:
            best = k
    return best


@kernel
def gate_opens(setup, memory, stream):
    """Whether the gate opens for this decision; no random number is drawn where it always does."""
    n_ops = np.int64(memory[OPERATORS])
    if setup.size == n_ops * N_INPUTS:
        return True
    return uniform(stream) < 1.0 / (1.0 + math.exp(min(-sum_inputs(setup, n_ops, memory), LARGEST_EXPONENT)))


@kernel(LEARN_SIGNATURE)
def learn(setup, memory, i, op, outcome):
    """Note which value individual `i` has after replacement."""
    n_pop, n_ops = np.int64(memory[POPULATION]), np.int64(memory[OPERATORS])
    f_parent, f_trial = outcome[Outcome.PARENT], outcome[Outcome.TRIAL]
    memory[SLOTS + n_ops + n_pop + i] = f_trial if f_trial <= f_parent else f_parent
    memory[RECORDED] += 1.0
    memory[BLIND] = 1.0 if outcome[Outcome.NEW_BSF] == math.inf else 0.0
    memory[IMPROVED] += 1.0 if f_trial < f_parent else 0.0
    return 0


@kernel(END_SIGNATURE)
def end_generation(setup, memory):
    """Rank the parents, and renew diversity and success."""
    n_pop, n_ops = np.int64(memory[POPULATION]), np.int64(memory[OPERATORS])
    recorded = np.int64(memory[RECORDED])
    if recorded == 0:
        return 0
    if memory[DECIDED] > 0.0:  # values may come without new decisions
        distance = memory[DISTANCE_SUM] / (DONORS * memory[DECIDED])
        if memory[FIRST_DISTANCE] == 0.0:
            memory[FIRST_DISTANCE] = max(distance, SMALLEST_DIVERSITY)
        relative = max(distance / memory[FIRST_DISTANCE], SMALLEST_DIVERSITY)
        memory[DIVERSITY] = DIVERSITY_UNIT * math.log(relative)
    memory[SUCCESS] = memory[IMPROVED] / recorded
    memory[DISTANCE_SUM] = memory[DECIDED] = memory[IMPROVED] = memory[RECORDED] = 0.0
    if recorded == n_pop:  # a truncated generation is the last one
        rank_individuals(memory, n_ops, n_pop)
    return 0


@kernel
def rank_individuals(memory, n_ops, n_pop):
    """Write the ranks of all individuals from their values."""
    if n_pop < 2:
        return
    ranks = memory[SLOTS + n_ops : SLOTS + n_ops + n_pop]
    values = memory[SLOTS + n_ops + n_pop : SLOTS + n_ops + 2 * n_pop]
    order = small_integers_at(memory.ctypes.data + 8 * (SLOTS + n_ops + 2 * n_pop), (n_pop,))
    for k in range(n_pop):
        order[k] = k
    sort_by_fitness(order, values, n_pop)
    for k in range(n_pop):
        ranks[order[k]] = k / (n_pop - 1)


@kernel(RENUMBER_SIGNATURE)
def renumber(setup, memory, origin):
    """Take over what is known of the individuals that stay; new ones have the rank 0.5."""
    n_ops, old, n_pop = np.int64(memory[OPERATORS]), np.int64(memory[POPULATION]), origin.size
    first = SLOTS + n_ops
    memory[POPULATION] = n_pop
    for k in range(n_pop):  # origin[k] >= k: what is still to be read is not yet overwritten
        if origin[k] < 0:
            memory[first + k] = 0.5
            memory[first + n_pop + k] = math.inf
        else:
            memory[first + n_pop + k] = memory[first + old + origin[k]]
    if origin[0] >= 0:
        rank_individuals(memory, n_ops, n_pop)
    return 0


KERNELS = PolicyKernels(choose, reset, learn, end_generation, renumber, select_candidate)


def weights_of(policy: CompiledPolicy) -> np.ndarray:
    """(operators, inputs): the weights that a softmax policy was made with."""
    n_ops = len(policy.portfolio or PAPER)
    return policy.setup[: n_ops * N_INPUTS].reshape(n_ops, N_INPUTS).copy()


def prescreening_gate_of(policy: CompiledPolicy) -> np.ndarray | None:
    """(inputs,): the weights of its gate, None where it has none."""
    prescreening_gate = policy.setup[len(policy.portfolio or PAPER) * N_INPUTS :]
    return prescreening_gate.copy() if prescreening_gate.size else None


def softmax_policy(
    weights: np.ndarray,
    *,
    prescreening_gate: np.ndarray | None = None,
    name: str = "softmax",
    portfolio: Portfolio = PAPER,
    max_dimension: int = 30,
    state: str = PAPER_STATE,
    metadata: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> CompiledPolicy:
    """The policy with these weights (operators, inputs) and gate (inputs,); inputs without a column count nothing."""
    rows = len(portfolio)
    table = _with_all_inputs("weights", np.asarray(weights, dtype=np.float64), f"a row per operator ({rows})", rows)
    if prescreening_gate is not None:
        row = np.atleast_2d(np.asarray(prescreening_gate, dtype=np.float64))
        table = np.vstack([table, _with_all_inputs("prescreening_gate", row, "one row", 1)])
    return CompiledPolicy(
        name,
        KERNELS,
        setup=table.ravel(),
        memory_size=memory_size,
        memory_parts=memory_parts,
        needs_features=True,
        needs_history=False,
        portfolio=portfolio,
        max_dimension=max_dimension,
        state=state,
        metadata=metadata,
        de=de,
    )


def _with_all_inputs(name: str, given: np.ndarray, shape: str, rows: int) -> np.ndarray:
    """The table with zeros for the inputs that it does not have, or the error for a wrong one."""
    if given.ndim != 2 or given.shape[0] != rows or not 1 <= given.shape[1] <= N_INPUTS:
        raise PolicyFileError(f"{name} must have {shape} and at most {N_INPUTS} columns, got {given.shape}")
    if not np.isfinite(given).all():
        raise PolicyFileError(f"{name} must be finite, got some that are not")
    return np.pad(given, [(0, 0), (0, N_INPUTS - given.shape[1])])


def save_softmax(
    path: str | os.PathLike[str],
    weights: np.ndarray,
    *,
    prescreening_gate: np.ndarray | None = None,
    name: str = "softmax",
    portfolio: Portfolio = PAPER,
    max_dimension: int = 30,
    state: str = PAPER_STATE,
    provenance: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> None:
    """Write a policy file; weights that are not finite are refused."""
    made_for: dict[str, Any] = {"name": name, "portfolio": portfolio, "max_dimension": max_dimension, "de": de}
    softmax_policy(weights, prescreening_gate=prescreening_gate, state=state, **made_for)
    tensors = (
        {"weights": weights}
        if prescreening_gate is None
        else {"weights": weights, "prescreening_gate": prescreening_gate}
    )
    write_policy_file(
        path,
        {key: np.ascontiguousarray(values, dtype=np.float64) for key, values in tensors.items()},
        kind=KIND,
        name=name,
        portfolio=portfolio,
        max_dimension=max_dimension,
        state=state,
        provenance=provenance,
        de=de,
    )


def from_tensors(tensors: dict[str, np.ndarray], **header: Any) -> CompiledPolicy:
    """The policy of a file."""
    if "weights" not in tensors or tensors.keys() - {"weights", "prescreening_gate"}:
        raise PolicyFileError(f"the tensors must be 'weights' and perhaps 'prescreening_gate', got {sorted(tensors)}")
    return softmax_policy(tensors["weights"], prescreening_gate=tensors.get("prescreening_gate"), **header)
