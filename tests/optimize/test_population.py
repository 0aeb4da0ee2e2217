"""NP where nobody says it: what the policy was made with, less for short searches whose population shrinks anyway."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from deddqn import Optimizer, load_policy, minimize
from deddqn.optimize.arguments import SHORTEST_SEARCH, population_of
from deddqn.policies import best_policy
from tests.optimize.objectives import BOX, bowl


def first_size(**options):
    """The number of points of the initial population."""
    return len(Optimizer(BOX, updating="deferred", rng=1, **options).ask())


SIZE, FINAL = (load_policy("softmax-x").de[name] for name in ("population_size", "final_population"))


@pytest.mark.parametrize(
    ("maxfun", "expected"), [(20, 2 * FINAL), (200, 2 * FINAL), (1000, 20), (2500, 50), (50 * SIZE, SIZE)]
)
def test_short_searches_begin_with_a_smaller_population(maxfun, expected):
    assert first_size(policy="softmax-x", maxfun=maxfun) == expected


def test_long_searches_begin_with_what_the_policy_was_made_with():
    policy = load_policy("softmax-x")
    assert 2 * FINAL < 20 and SIZE > 50 and best_policy(planned=False) == "softmax-x"
    for maxfun in (100 * SHORTEST_SEARCH, 10**5, 10**9):
        assert population_of(None, "uniform", policy, maxfun, dimension=4) == SIZE
        assert first_size(policy=policy, maxfun=maxfun) == SIZE


@pytest.mark.parametrize("maxfun", [200, 1000, 10**5])
def test_what_is_given_wins(maxfun):
    assert first_size(policy="softmax-x", maxfun=maxfun, population_size=37) == 37
    assert first_size(policy="softmax-x", maxfun=maxfun, init=np.zeros((23, 4))) == 23


@pytest.mark.parametrize("policy", ["random", "de1", "softmax", "ddqn", "f-auc"])
def test_a_constant_population_has_100_individuals(policy):
    for maxfun in (200, 1000, 5000, 10**5):
        assert first_size(policy=policy, maxfun=maxfun) == 100


def test_the_final_size_that_is_given_has_room_below_the_first():
    assert first_size(maxfun=1000, final_population=30) == 60
    result = minimize(bowl, BOX, maxfun=1000, final_population=30, rng=1, polish=True)
    assert result.population.shape == (30, 4)
    assert first_size(policy="softmax-x", maxfun=10**5, final_population=30) == SIZE
    for wrong in (5, "many", 20.5):
        for polish in (False, True):
            with pytest.raises(ValueError, match="final_population must be a whole number of at least 6, got"):
                minimize(bowl, BOX, maxfun=1000, final_population=wrong, polish=polish)
    with pytest.raises(ValueError, match=rf"final_population must be at most population_size \({SIZE}\), got 101"):
        minimize(bowl, BOX, policy="softmax-x", maxfun=1000, final_population=101)


def test_maxfun_below_the_smallest_population_is_an_error():
    for options, size in (
        ({}, FINAL),
        ({"policy": "softmax-x"}, 2 * FINAL),
        ({"policy": "random"}, 100),
        ({"population_size": 50}, 50),
    ):
        with pytest.raises(ValueError, match=f"maxfun must be at least the population size {size}, got {size - 1}"):
            minimize(bowl, BOX, maxfun=size - 1, **options)
        assert minimize(bowl, BOX, maxfun=size, rng=1, **options).nfev == size


@pytest.mark.parametrize(
    ("maxfun", "dimension", "expected"),
    [(100, 8, 10), (10_000, 10, 100), (10_000, 4, 71), (16_000, 2, 55), (10**9, 10, 1000)],
)
def test_the_default_begins_with_the_root_of_the_evaluations(maxfun, dimension, expected):
    """Few coordinates need fewer; and where CMA-ES is tried, DE plans with three quarters of them."""
    assert len(Optimizer([(-1, 1)] * dimension, maxfun=maxfun, updating="deferred").ask()) == expected


def test_settings_by_budget_give_way_to_those_given():
    settings = Optimizer(BOX, maxfun=50_000, n_candidates=2, cma_share=0.4)._run.spec.config
    assert (settings.n_candidates, settings.restart_tolerance, settings.cma_share) == (2, 0.0, 0.4)
    assert settings.cma_extent == np.inf  # CMA-ES that is asked for is tried however wide the population is
    assert settings.population_size == round(np.sqrt(0.6 * 50_000 * 4 / 8)) and settings.archive == 0.5


@pytest.mark.parametrize(
    ("maxfun", "dimension", "candidates", "share"),
    [
        (1000, 10, 3, 0.0),
        (10_000, 10, 3, 0.0),
        (10_001, 10, 1, 0.0),
        (30_000, 10, 1, 0.0),
        (30_001, 10, 1, 0.25),
        (30_000, 40, 3, 0.0),
        (30_001, 40, 2, 0.0),
        (120_001, 40, 2, 0.25),
    ],
)
def test_candidates_and_cma_es_by_budget(maxfun, dimension, candidates, share):
    settings = Optimizer([(-5, 5)] * dimension, maxfun=maxfun)._run.spec.config
    assert (settings.n_candidates, settings.cma_share, settings.cma_extent) == (candidates, share, 1e-3)


@pytest.mark.parametrize(
    ("maxfun", "dimension", "share"), [(10**6, 12, 0.0), (19_499, 13, 0.0), (19_500, 13, 0.5), (45_000, 30, 0.5)]
)
def test_the_share_of_scales_by_the_success_rate(maxfun, dimension, share):
    assert Optimizer([(-5, 5)] * dimension, maxfun=maxfun)._run.spec.config.rate_share == share


@pytest.mark.parametrize(
    "others",
    [
        {"restart_tolerance": 0.1},
        {"updating": "asynchronous"},
        {"integrality": True},
        {"constraints": LinearConstraint(np.ones(4), 0.0, 1.0)},
        {"tol": 0.01},
    ],
)
def test_cma_es_is_not_tried_where_it_cannot_search(others):
    for policy in (None, "softmax-budget"):
        assert Optimizer(BOX, maxfun=50_000, policy=policy, **others)._run.spec.config.cma_share == 0.0


def test_a_policy_says_which_settings_follow_the_budget():
    from deddqn.de import DEConfig

    with pytest.raises(ValueError, match="by_budget"):
        DEConfig(by_budget="pbest")
    assert load_policy("softmax-x").de.get("by_budget") is None
