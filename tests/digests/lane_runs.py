"""Many runs side by side: what is recorded of them, with every reward, and decisions from outside."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from deddqn import EXTENDED as EXTENDED
from deddqn import DEConfig, RunSpec, VectorizedRuns, load_policy
from deddqn.problems import get
from tests.digests import names
from tests.digests.case import EXACT, MACHINE, MATH, Case
from tests.digests.functions import plain, problem
from tests.engine.stepped_runs import states_of, step

SMALL = DEConfig(population_size=10, budget=170)
CHANGING = DEConfig(
    population_size=14, budget=170, final_population=7, restart_tolerance=0.7, restart_final_fraction=0.2
)


def specs(reward: str = "R2", config: DEConfig = SMALL, label: str = "random") -> list[RunSpec]:
    """Runs of several dimensions, functions and seeds."""
    policy = load_policy(names.policy(label))
    settings: dict[str, Any] = {"policy": policy, "config": config, "reward": reward, "observe": True}
    if policy.portfolio is not None:
        settings["portfolio"] = policy.portfolio
    return [
        RunSpec(problem=problem(3), **settings),
        RunSpec(problem=problem(3), seed=1, repeat=2, **settings),
        RunSpec(problem=problem(10, plain), window=7, generations=3, **settings),
    ]


def state_of(lanes: VectorizedRuns) -> dict[str, Any]:
    """What lanes tell about themselves."""
    return {
        "best": lanes.best_values,
        "evaluations": lanes.evaluations,
        "rewards": lanes.total_rewards,
        "counts": lanes.strategy_counts,
        "ended": lanes.ended,
    }


def record(runs: list[RunSpec], threads: int = 1) -> dict[str, Any]:
    """Some decisions, then the others, all written down; a new run in the first lane; and to the end."""
    lanes = VectorizedRuns(runs, threads=threads)
    found = {}
    for part, decisions in (("first", 40), ("rest", 170)):
        made = lanes.record(decisions)
        found[part] = [made.states, made.actions, made.rewards, made.ends, made.made]
    lanes.restart(0, replace(runs[0], repeat=9))
    lanes.advance(60)
    found["restarted"] = state_of(lanes)
    lanes.advance()
    return found | state_of(lanes)


def record_with_table(reward: str) -> dict[str, Any]:
    """Rewards that read a table of uniform runs."""
    tables = names.reward_tables(reward, [problem(3)], SMALL, threads=1)
    return {"tables": tables, **record([replace(s, reward=reward, reward_setup=tables[0]) for s in specs()[:2]])}


def act(runs: list[RunSpec]) -> dict[str, Any]:
    """Decisions from outside, in turn."""
    lanes = VectorizedRuns(runs, threads=1)
    seen = [states_of(lanes)]
    for turn in range(150):
        actions = [(turn + 2 * lane) % len(run.portfolio) for lane, run in enumerate(runs)]
        seen.append(step(lanes, np.array(actions)))
    return {"seen": seen, **state_of(lanes)}


def benchmark_specs(label: str) -> list[RunSpec]:
    """Runs on functions of CEC2005: noisy, unbounded and composed ones."""
    policy = load_policy(names.policy(label))
    settings: dict[str, Any] = {"policy": policy, "observe": True, "reward": "R3", "config": SMALL}
    if policy.portfolio is not None:
        settings["portfolio"] = policy.portfolio
    return [RunSpec(problem=get(f"cec2005:{name}"), **settings) for name in ("F4/d10", "F7/d10", "F18/d30")]


def cases() -> Iterator[Case]:
    """All of them."""
    for reward in ("R1", "R2", "R3"):
        yield Case(f"lanes/{reward}", EXACT, lambda reward=reward: record(specs(reward)), reward == "R3")
    for reward in ("progress", "rank"):
        yield Case(f"lanes/{reward}", EXACT, partial(record_with_table, reward))
    yield Case("lanes/R2/threads", EXACT, lambda: record(specs(), threads=2))
    yield Case("lanes/changing", EXACT, lambda: record(specs(config=CHANGING)), True)
    # Not without the compiler: its squares of distances (pow) differ in the last bit, which only float64 states show.
    yield Case("lanes/act", EXACT, lambda: act(specs("R1")))
    yield Case("lanes/act/changing", EXACT, lambda: act(specs("R1", CHANGING)))
    candidates = replace(CHANGING, **{names.CANDIDATES: 3})
    for label in ("softmax", "softmax-x"):
        yield Case(f"lanes/{label}", MATH, lambda label=label: record(specs("R3", candidates, label)), True)
    extended = {"portfolio": EXTENDED, "config": CHANGING}
    yield Case("lanes/extended", MATH, lambda: record([replace(s, **extended) for s in specs()]))
    for label in ("random", "softmax-x", "ddqn"):
        yield Case(f"lanes/cec2005/{label}", MACHINE, lambda label=label: record(benchmark_specs(label)))
