"""The contract of the environment as text: its observations are listed from Table 1 itself."""

from __future__ import annotations

from deddqn.de import PAPER
from deddqn.features.layout import METRICS, PAPER_OPERATORS, TABLE_1, Block, n_features

_TEXT = """Differential Evolution as an environment: every step chooses the mutation strategy of one individual.

``gymnasium.make("deddqn/DE-v0", problem="cec2005:F9/d10", reward="R2", portfolio=None, **settings)``

An episode is one run of DE on one problem (Algorithm 2 of the DE-DDQN paper). The initial population is evaluated by
`reset`; from then on a step decides which operator of the portfolio makes the trial of the next individual, evaluates
the trial, and brings the state of the individual after it (the first of the next generation after the last).

## Arguments
| argument | meaning | default |
|---|---|---|
| `problem` | a name (``bbob:f3/i1/d10``), a suite (``cec2005-train``), a `Problem`, or a list | ``cec2005:F9/d10`` |
| `reward` | ``R1``, ``R2`` or ``R3`` | ``R2`` |
| `portfolio` | the operators: names of strategies or (strategy, F, CR), or "extended" | the paper's four |
| `max_dimension` | dim^max of the observation `dimension` | 30 |
| `budget` | FE^max: evaluations of an episode, the initial population included | 10000 |
| `population_size` | NP | 100 |
| `final_population` | NP shrinks linearly to this size | NP |
| `repair`, `target_error`, `target_value`, `pbest`, `archive` | as in `deddqn.DEConfig` | |
| `restart_tolerance`, `restart_reserve` | as in `deddqn.DEConfig` | |

`make_vec` takes these and `autoreset_mode` (``NextStep``, ``SameStep`` or ``Disabled``) and `threads`.

## Observation space
``Box(low, high, ({paper},), float32)``: Table 1 of the paper. For a portfolio of K operators there are 19 + 20 K
numbers; the history blocks are metric-major (all operators of OM_1, then of OM_2, ...) and {per_block} long for the
paper's four.

{table}

The observation after the end of an episode, where nothing is left to decide, is all zeros.

## Action space
``Discrete(K)``: the number of an operator of the portfolio. For the paper's portfolio: {actions}.

## Rewards
With x the parent and u its trial: R1 = max(f(x) - f(u), 0). R2 = 10 if f(u) is a new best so far, else 1 if
f(u) < f(x), else 0. R3 = max((f(x) - f(u)) / max(f(u) - f_opt, 1e-8), 0), only where the optimum is known.

## Start of an episode
``reset(seed=s)`` begins the run with seed ``s`` and repeat 0 (the initial population and all donors follow from seed,
problem, dimension and repeat, as everywhere in this package); every further ``reset()`` is the next repeat. With
several problems, episodes take them in cycles; every cycle is shuffled by the seed. ``options`` may hold ``problem``
(for this episode only) and ``repeat``. The same seed, problem, repeat and actions give the same run, bit for bit, as
`Runs`, `minimize` and ask/tell.

Lane k of a vector environment that was reset with seed s has seed s + k; with several problems the runs draw from one
shuffled order (that of the first seed), so that they are spread evenly.

## End of an episode
``terminated`` when the budget is spent or the error falls below ``target_error`` (1e-8) where the optimum is known.
The budget is part of the state (`remaining_budget`), so its end is an end of the task: ``truncated`` is always False.
A step after the end raises `gymnasium.error.ResetNeeded`.

## Info
``problem`` (its name), ``evaluations``, ``best_value``, ``error`` (NaN where the optimum is unknown), ``best_point``
and ``strategy_counts`` (how often every operator was applied). A vector environment gives arrays with one row per run
(``best_point`` is filled up with NaN where dimensions differ) and, in mode ``SameStep``, ``final_obs`` and
``final_info`` for the runs of their masks.

## Version history
* v0: first version (feature layout 1).
"""


def _rows() -> list[str]:
    rows = ["| index | observation | low | high | meaning |", "|---|---|---|---|---|"]
    start = 0
    for block in TABLE_1:
        size = _size(block)
        index = f"{start}" if size == 1 else f"{start}-{start + size - 1}"
        rows.append(f"| {index} | {block.name} | {-1 if block.signed else 0} | 1 | {block.meaning} |")
        start += size
    return rows


def _size(block: Block) -> int:
    return METRICS * PAPER_OPERATORS if block.per_operator else block.rows[1] - block.rows[0] + 1


def contract() -> str:
    """The docstring of the environment."""
    return _TEXT.format(
        paper=n_features(PAPER_OPERATORS),
        per_block=METRICS * PAPER_OPERATORS,
        table="\n".join(_rows()),
        actions=", ".join(f"{number} {name}" for number, name in enumerate(PAPER.names)),
    )
