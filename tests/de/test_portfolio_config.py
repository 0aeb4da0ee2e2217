"""Settings of a run: the paper's values, and errors that carry the argument, the rule and the value."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from numba import njit

from deddqn import PAPER, DEConfig, Operator, Portfolio, Problem, RunSpec, load_policy
from deddqn._utils.validation import UnknownNameError
from deddqn.de.mutation import PAPER_STRATEGIES, STRATEGIES, mutate, mutate_further
from deddqn.de.portfolio import paper_portfolio


def test_the_papers_values() -> None:
    """Table 2."""
    config = DEConfig()
    assert (config.population_size, config.budget) == (100, 10_000)
    assert (config.repair, config.updating, config.target_error) == ("clip", "sequential", 1e-8)
    assert (config.final_population, config.restart_tolerance, config.n_candidates) == (None, 0.0, 1)
    assert [(e.strategy, e.scale, e.crossover) for e in PAPER] == [
        ("rand/1", 0.5, 1.0),
        ("rand/2", 0.5, 1.0),
        ("rand-to-best/2", 0.5, 1.0),
        ("curr-to-rand/1", 0.5, 1.0),
    ]
    run = spec()
    assert (run.generations, run.window, run.seed, run.repeat, run.reward) == (10, 50, 0, 0, "R2")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"population_size": 5}, r"population_size must be at least 6 \(a parent and five donors\), got 5"),
        ({"population_size": 7.5}, "population_size must be a whole number, got 7.5"),
        ({"population_size": math.nan}, "population_size must be a whole number, got nan"),
        ({"population_size": True}, "population_size must be a whole number, got True"),
        ({"budget": 0}, "budget must be at least 1 evaluation, got 0"),
        ({"budget": 1e4}, "budget must be a whole number, got 10000.0"),
        ({"target_error": -1e-9}, "target_error must be 0 or more, got -1e-09"),
        ({"target_error": math.nan}, "target_error must be 0 or more, got nan"),
        ({"final_population": 5}, "final_population must be at least 6, got 5"),
        ({"final_population": 8.5}, "final_population must be a whole number, got 8.5"),
        ({"final_population": 101}, r"final_population must be at most population_size \(100\), got 101"),
        ({"pbest": 0.0}, r"pbest must lie in \(0, 1\], got 0.0"),
        ({"pbest": math.nan}, r"pbest must lie in \(0, 1\], got nan"),
        ({"archive": -1.0}, r"archive must lie in \[0, 100\], got -1.0"),
        ({"archive": math.inf}, r"archive must lie in \[0, 100\], got inf"),
        ({"restart_final_fraction": 1.0}, r"restart_final_fraction must lie in \[0, 1\), got 1.0"),
        ({"restart_final_fraction": math.nan}, r"restart_final_fraction must lie in \[0, 1\), got nan"),
        ({"restart_tolerance": 1.0}, r"restart_tolerance must lie in \[0, 1\), got 1.0"),
        ({"restart_tolerance": math.nan}, r"restart_tolerance must lie in \[0, 1\), got nan"),
        ({"n_candidates": 0}, "n_candidates must be at least 1 candidate, got 0"),
        ({"n_candidates": 17}, "n_candidates must be at most 16, got 17"),
        ({"n_candidates": 2.0}, "n_candidates must be a whole number, got 2.0"),
        ({"n_candidates": True}, "n_candidates must be a whole number, got True"),
        ({"repair": "refelct"}, "repair must be one of .*did you mean 'reflect'.* got 'refelct'"),
        ({"updating": "defered"}, "updating must be one of .*did you mean 'deferred'.* got 'defered'"),
    ],
)
def test_wrong_config(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        DEConfig(**settings)


def test_numpy_integers_are_whole_numbers() -> None:
    assert DEConfig(population_size=np.int64(8), budget=np.int32(9)).population_size == 8


def test_config_is_frozen_and_keyword_only() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        DEConfig().budget = 3  # type: ignore[misc]
    with pytest.raises(TypeError):
        DEConfig(100)  # type: ignore[misc]
    with pytest.raises(TypeError, match="popsize"):
        DEConfig(popsize=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rand/1", -0.5), r"scale \(F\) must be a finite number of 0 or more, got -0.5"),
        (("rand/1", math.inf), r"scale \(F\) must be a finite number .* got inf"),
        (("rand/1", math.nan), r"scale \(F\) must be a finite number .* got nan"),
        (("rand/1", 0.0, 1.0, "F"), r"scale \(F\) must lie in \(0, 1\] where it adapts, got 0.0"),
        (("rand/1", 1.5, 1.0, "F+CR"), r"scale \(F\) must lie in \(0, 1\] where it adapts, got 1.5"),
        (("rand/1", 0.5, 1.0, "CR+F"), r"adapts must be one of '', 'F', 'CR', 'F\+CR'; did you mean .* got 'CR\+F'"),
        (("rand/1", 0.5, 1.5), r"crossover \(CR\) must lie in \[0, 1\], got 1.5"),
        (("rand/1", 0.5, -0.1), r"crossover \(CR\) must lie in \[0, 1\], got -0.1"),
        (("rand/1", 0.5, math.nan), r"crossover \(CR\) must lie in \[0, 1\], got nan"),
        (("rand/1", "x"), r"scale \(F\) must be a finite number .* got 'x'"),
        (("rand/1", None), r"scale \(F\) must be a finite number .* got None"),
        (("rand/1", 0.5, True), r"crossover \(CR\) must lie in \[0, 1\], got True"),
    ],
)
def test_wrong_entry(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Operator(*arguments)


def test_unknown_strategy_suggests_a_neighbour() -> None:
    with pytest.raises(UnknownNameError, match="unknown strategy 'rand-to-best/3'; did you mean 'rand-to-best/2'"):
        Operator("rand-to-best/3")


def test_portfolio() -> None:
    portfolio = Portfolio(["rand/1", ("rand/1", 0.9, 0.1), Operator("curr-to-rand/1", 0.7)])
    assert portfolio[0] == Operator("rand/1", 0.5, 1.0)
    assert portfolio.names == ("rand/1 F=0.5 CR=1", "rand/1 F=0.9 CR=0.1", "curr-to-rand/1")
    codes, scales, rates = portfolio.as_arrays()
    assert [list(STRATEGIES)[code] for code in codes] == ["rand/1", "rand/1", "curr-to-rand/1"]
    assert (scales.tolist(), rates.tolist()) == ([0.5, 0.9, 0.7], [1.0, 0.1, 1.0])
    assert portfolio == Portfolio(portfolio) and hash(portfolio) == hash(Portfolio(portfolio))
    assert paper_portfolio() == PAPER != paper_portfolio(crossover=0.9)
    with pytest.raises(ValueError, match="portfolio must hold at least one entry, got none"):
        Portfolio([])
    with pytest.raises(ValueError, match=r"portfolio must be a list of entries, got the text 'rand/1'; \['rand/1'\]"):
        Portfolio("rand/1")
    for entry in (3, (), ("rand/1", 0.5, 1.0, "F", "CR")):
        with pytest.raises(ValueError, match=r"an entry must be a strategy, \(strategy, F, CR\) or .* got "):
            Portfolio([entry])  # type: ignore[list-item]


@njit
def call(kernel, arguments):
    kernel(*arguments)


def test_codes_are_dispatched_to_their_strategy() -> None:
    parents = np.random.default_rng(0).standard_normal((7, 3))
    donors, by_code, by_name = np.array([1, 2, 3, 4, 5]), np.zeros(3), np.zeros(3)
    for code, strategy in enumerate(PAPER_STRATEGIES.values()):
        call(strategy, (parents, 0, donors, 6, 0.5, by_name))
        for dispatch in (mutate, mutate_further):
            call(dispatch, (code, parents, 0, donors, 6, 0.5, by_code))
            assert by_code.tolist() == by_name.tolist()


def spec(**changes: Any) -> RunSpec:
    problem = Problem.from_function(lambda x: 0.0, [(0.0, 1.0)] * 2)
    return RunSpec(**{"problem": problem, "policy": load_policy("random"), **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"generations": 1}, "generations must be at least 2, got 1"),
        ({"window": 0}, "window must be at least 1, got 0"),
        ({"window": 2.5}, "window must be a whole number, got 2.5"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"seed": 1.5}, "seed must be a whole number, got 1.5"),
        ({"repeat": -2}, "repeat must be at least 0, got -2"),
        ({"reward": "R3"}, "reward 'R3' needs a known optimum, but 'objective' has none"),
        ({"problem": "cec2005:F1/d10"}, "problem must be a Problem, got 'cec2005:F1/d10'"),
        ({"portfolio": ["rand/1"]}, r"portfolio must be a Portfolio, got \['rand/1'\]"),
        ({"config": {"budget": 3}}, "config must be a DEConfig, got {'budget': 3}"),
        ({"policy": load_policy("de5")}, "policy 'de5' needs at least 5 operators, got 4"),
        (
            {"policy": load_policy("mixture:0.5,0.5")},
            "policy 'mixture:0.5,0.5' gives 2 probabilities, .* has 4 entries",
        ),
    ],
)
def test_wrong_spec(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spec(**changes)


def test_unknown_reward_suggests_a_neighbour() -> None:
    with pytest.raises(UnknownNameError, match="unknown reward 'R22'; did you mean 'R2'"):
        spec(reward="R22")
