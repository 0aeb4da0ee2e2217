"""A policy that draws the operator with probabilities from a linear softmax of facts about the search.

========================  ==============================================================================
fact                      from
========================  ==============================================================================
constant                  1
progress, its square      t / FE^max (Table 1 row 4)
stagnation                evaluations without a new best, over FE^max (row 6), as x / (x + 0.05)
rank                      of the individual among the parents: 0 best, 1 worst
diversity                 log of the mean distance to donors (rows 7-11) of the last generation over the first
success                   share of the last generation's trials that improved on their parent
dimension                 D / dim^max (row 5)
lean                      of each operator: the gains of the donors it adds, less those of the donors it subtracts
base                      of each operator: the gain of the vector that it starts from or is drawn to
========================  ==============================================================================

A gain is ``z / (1 + abs(z))`` with z = (f(x_i) - f(x_r)) / std of the parents' f (rows 3 and 13-18). The first eight
facts say how the search goes; the last two what this very move would be made of, because the donors are drawn before
the decision: a move leans upwards where its differences lead from worse to better vectors. `LEANS` and `BASES` have the
vectors of every strategy; guides and donors that are drawn after the decision count nothing. Rank, diversity and
success are kept by the policy itself, from what every policy is handed: the features, and in `learn` the values of
parent and trial. In the first generation they are 0.5, 0 and 0.5. While no finite value is known, there are no facts,
and any operator is drawn.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numba import njit

from deddqn.compiled import ENGINE, small_integers_at
from deddqn.de.portfolio import PAPER, Portfolio
from deddqn.de.state import DONORS
from deddqn.de.statistics import sort_by_fitness
from deddqn.features.layout import AT
from deddqn.policies.files import PolicyFileError, write_policy_file
from deddqn.policies.kernels import PolicyKernels
from deddqn.policies.policy import CompiledPolicy
from deddqn.streams import integer_below, uniform

KIND = "softmax"
FACTS = (
    *("constant", "progress", "progress squared", "stagnation", "rank", "diversity", "success", "dimension"),
    *("lean", "base"),
)
N_FACTS = len(FACTS)
LEAN, BASE = FACTS.index("lean"), FACTS.index("base")

R1, R2, R3, R4, R5, BEST = range(DONORS + 1)
INPUTS = (*FACTS[:LEAN], *(f"gain of {vector}" for vector in ("r1", "r2", "r3", "r4", "r5", "best")))
"""What the scores are linear in: the facts that are the same for all operators, and the gains that the others sum."""
N_INPUTS, GAINS = len(INPUTS), LEAN
LEANS = {
    "rand/1": ((R2,), (R3,)),
    "rand/2": ((R2, R4), (R3, R5)),
    "rand-to-best/2": ((R2, R4), (R3, R5)),
    "curr-to-rand/1": ((R2,), (R3,)),
    "best/1": ((R1,), (R2,)),
    "curr-to-best/1": ((R1,), (R2,)),
    "curr-to-pbest/1": ((R1,), ()),
    "rand-to-pbest/1": ((R2,), ()),
    **dict.fromkeys(("gauss", "cma"), ((), ())),
}
"""The donors that a strategy adds and subtracts, as far as they are known when it is chosen."""
BASES = {
    "best/1": BEST,
    "curr-to-best/1": BEST,
    **dict.fromkeys(("rand/1", "rand/2", "rand-to-best/2", "curr-to-rand/1", "rand-to-pbest/1"), R1),
}
"""The vector that a strategy starts from, or is drawn to from x_i."""

BUDGET, DIMENSION, STAGNATION, DISTANCE = (
    AT[name] for name in ("remaining_budget", "dimension", "stagnation", "donor_distance")
)
DEVIATION, DIFFERENCE = AT["fitness_deviation"], AT["donor_fitness"]  # that of x_best follows the donors
HALF_STAGNATION = 0.05  # a stagnation of 5% of the budget counts one half
SMALLEST_DIVERSITY = 1e-9
DIVERSITY_UNIT = 0.1  # one decade is about a quarter

# The memory: slots, the inputs, then K scores, then NP ranks, NP values and NP indices to sort
DIVERSITY, SUCCESS, FIRST_DISTANCE, DISTANCE_SUM, DECIDED, IMPROVED, SETTLED, POPULATION, OPERATORS, BLIND = range(10)
INPUT = 10
SLOTS = INPUT + N_INPUTS


def memory_size(n_ops: int, n_pop: int) -> int:
    """float64 that a run keeps."""
    return SLOTS + n_ops + 3 * n_pop


@njit(**ENGINE)
def reset(setup, memory, n_ops, n_pop):
    """Before anything is known: every rank is 0.5."""
    memory[:SLOTS] = 0.0
    memory[SUCCESS] = 0.5
    memory[POPULATION], memory[OPERATORS] = n_pop, n_ops
    memory[SLOTS + n_ops : SLOTS + n_ops + n_pop] = 0.5
    return 0


@njit(**ENGINE)
def write_inputs(memory, features, n_ops, i):
    """Write what the decision for individual `i` rests on, in the order of `INPUTS`, to ``memory[INPUT:SLOTS]``."""
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
    unit = 0.5 * features[DEVIATION]
    for k in range(N_INPUTS - GAINS):
        difference = features[DIFFERENCE + k]
        memory[INPUT + GAINS + k] = difference / (unit + abs(difference)) if unit > 0.0 else 0.0


@njit(**ENGINE)
def choose(setup, memory, features, stream, n_ops, i):
    """Draw an operator with probability proportional to exp(weights . inputs). Notes the donors' distances."""
    for k in range(DONORS):
        memory[DISTANCE_SUM] += features[DISTANCE + k]
    memory[DECIDED] += 1.0
    if memory[BLIND] != 0.0:
        return integer_below(stream, n_ops)
    write_inputs(memory, features, n_ops, i)
    highest = -math.inf
    for op in range(n_ops):
        score = 0.0
        for j in range(N_INPUTS):
            score += setup[op * N_INPUTS + j] * memory[INPUT + j]
        memory[SLOTS + op] = score
        highest = max(highest, score)
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


@njit(**ENGINE)
def pick(setup, memory, outlook, stream):
    """The trial with the highest outlook; the first while it is known that no value was finite."""
    best = 0
    if memory[BLIND] == 0.0:
        for k in range(1, outlook.size):
            if outlook[k] > outlook[best]:
                best = k
    return best


@njit(**ENGINE)
def learn(setup, memory, i, op, f_parent, f_trial, f_bsf, f_wsf, reward):
    """Note which value individual `i` has after replacement."""
    n_pop, n_ops = np.int64(memory[POPULATION]), np.int64(memory[OPERATORS])
    memory[SLOTS + n_ops + n_pop + i] = f_trial if f_trial <= f_parent else f_parent
    memory[SETTLED] += 1.0
    memory[BLIND] = 1.0 if f_bsf == math.inf else 0.0
    memory[IMPROVED] += 1.0 if f_trial < f_parent else 0.0
    return 0


@njit(**ENGINE)
def end_generation(setup, memory):
    """Rank the parents, and renew diversity and success."""
    n_pop, n_ops = np.int64(memory[POPULATION]), np.int64(memory[OPERATORS])
    settled = np.int64(memory[SETTLED])
    if settled == 0:
        return 0
    distance = memory[DISTANCE_SUM] / (DONORS * memory[DECIDED])
    if memory[FIRST_DISTANCE] == 0.0:
        memory[FIRST_DISTANCE] = max(distance, SMALLEST_DIVERSITY)
    relative = max(distance / memory[FIRST_DISTANCE], SMALLEST_DIVERSITY)
    memory[DIVERSITY] = DIVERSITY_UNIT * math.log(relative)
    memory[SUCCESS] = memory[IMPROVED] / settled
    memory[DISTANCE_SUM] = memory[DECIDED] = memory[IMPROVED] = memory[SETTLED] = 0.0
    if settled == n_pop:  # a truncated generation is the last one
        rank_individuals(memory, n_ops, n_pop)
    return 0


@njit(**ENGINE)
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


@njit(**ENGINE)
def renumber(setup, memory, origin):
    """Take over what is known of the individuals that stay; new ones have the rank 0.5."""
    n_ops, old, n_pop = np.int64(memory[OPERATORS]), np.int64(memory[POPULATION]), origin.size
    first = SLOTS + n_ops
    memory[POPULATION] = n_pop
    for k in range(n_pop):  # origin[k] >= k: what is still to be read is not yet overwritten
        if origin[k] < 0:
            memory[first + k] = 0.5
        else:
            memory[first + n_pop + k] = memory[first + old + origin[k]]
    if origin[0] >= 0:
        rank_individuals(memory, n_ops, n_pop)
    return 0


def input_weights(weights: np.ndarray, portfolio: Portfolio) -> np.ndarray:
    """(operators, inputs): the weights (operators, facts) with lean and base resolved into the gains they sum."""
    resolved = np.zeros((len(portfolio), N_INPUTS))
    resolved[:, :GAINS] = weights[:, :GAINS]
    for row, entry, (lean, base) in zip(resolved, portfolio, weights[:, [LEAN, BASE]], strict=True):
        added, subtracted = LEANS[entry.strategy]
        row[[GAINS + k for k in added]] += lean
        row[[GAINS + k for k in subtracted]] -= lean
        if entry.strategy in BASES:
            row[GAINS + BASES[entry.strategy]] += base
    return resolved


def weights_of(policy: CompiledPolicy) -> np.ndarray:
    """(operators, facts): the weights that a softmax policy was made with; the inverse of `input_weights`."""
    portfolio = policy.portfolio or PAPER
    resolved = policy.setup.reshape(len(portfolio), N_INPUTS)
    weights = np.zeros((len(portfolio), N_FACTS))
    weights[:, :GAINS] = resolved[:, :GAINS]
    for row, entry, found in zip(weights, portfolio, resolved, strict=True):
        for added in LEANS[entry.strategy][0][:1]:
            row[LEAN] = found[GAINS + added]
        if entry.strategy in BASES:
            row[BASE] = found[GAINS + BASES[entry.strategy]]
    return weights


def softmax_policy(
    weights: np.ndarray,
    *,
    name: str = "searched",
    portfolio: Portfolio = PAPER,
    max_dimension: int = 30,
    metadata: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> CompiledPolicy:
    """The policy with these weights (operators, facts); the facts of columns that are not there count nothing."""
    given = np.asarray(weights, dtype=np.float64)
    if given.ndim != 2 or given.shape[0] != len(portfolio) or not 1 <= given.shape[1] <= N_FACTS:
        raise PolicyFileError(
            f"weights must have a row per operator ({len(portfolio)}) and at most {N_FACTS} columns, got {given.shape}"
        )
    table = np.zeros((len(portfolio), N_FACTS))
    table[:, : given.shape[1]] = given
    if not np.isfinite(table).all():
        raise PolicyFileError("weights must be finite, got some that are not")
    return CompiledPolicy(
        name,
        PolicyKernels(choose, reset, learn, end_generation, renumber, pick),
        setup=input_weights(table, portfolio).ravel(),
        memory_size=memory_size,
        needs_features=True,
        portfolio=portfolio,
        max_dimension=max_dimension,
        metadata=metadata,
        de=de,
    )


def save_softmax(
    path: str | os.PathLike[str],
    weights: np.ndarray,
    *,
    name: str = "searched",
    portfolio: Portfolio = PAPER,
    max_dimension: int = 30,
    provenance: dict[str, Any] | None = None,
    de: Mapping[str, Any] | None = None,
) -> None:
    """Write a policy file; weights that are not finite are refused."""
    softmax_policy(weights, portfolio=portfolio)
    write_policy_file(
        path,
        {"weights": np.ascontiguousarray(weights, dtype=np.float64)},
        kind=KIND,
        name=name,
        portfolio=portfolio,
        max_dimension=max_dimension,
        provenance=provenance,
        de=de,
    )


def from_tensors(tensors: dict[str, np.ndarray], **facts: Any) -> CompiledPolicy:
    """The policy of a file."""
    if "weights" not in tensors:
        raise PolicyFileError("the file has no tensor 'weights'")
    return softmax_policy(tensors["weights"], **facts)
