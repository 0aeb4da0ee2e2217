"""Shares played at random: the rows of the table are the probabilities of the generations."""

import numpy as np
import pytest

from deddqn.de import PAPER, DEConfig, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.policies import fixed, mixture, schedule_policy
from deddqn.problems import get

POPULATION = 10


def choices(policy, generations, repeats=1, portfolio=PAPER):
    """The operators that were played, (repeats, generations, individuals)."""
    config = DEConfig(population_size=POPULATION, budget=POPULATION * (generations + 1))
    problem = get("cec2005:F6/d10")
    specs = [
        RunSpec(problem=problem, policy=policy, portfolio=portfolio, config=config, observe=True, repeat=r)
        for r in range(repeats)
    ]
    record = VectorizedRuns(specs, threads=1).record(POPULATION * generations)
    return record.actions.reshape(repeats, generations, POPULATION)


def test_every_generation_has_its_row_and_the_last_one_stays():
    table = np.eye(4)[[2, 0, 3, 1]]
    played = choices(schedule_policy(table), 7)[0]
    assert [set(row) for row in played.tolist()] == [{2}, {0}, {3}, {1}, {1}, {1}, {1}]


def test_rows_are_probabilities():
    table = np.array([[0.1, 0.2, 0.3, 0.4], [0.7, 0.0, 0.3, 0.0]])
    played = choices(schedule_policy(table), 2, repeats=300)
    for generation, row in enumerate(table):
        counters = np.bincount(played[:, generation].ravel(), minlength=4)
        expected = 3000 * row
        assert (counters[row == 0.0] == 0).all()
        possible = row > 0.0
        statistic = ((counters - expected)[possible] ** 2 / expected[possible]).sum()
        assert statistic < 16.3  # chi-squared, 3 degrees: p = 0.001


def test_one_row_is_a_mixture_and_one_column_is_fixed():
    probabilities = [0.5, 0.25, 0.125, 0.125]
    same = choices(schedule_policy(np.array([probabilities])), 5) == choices(mixture(probabilities), 5)
    assert same.all()
    only = Portfolio(["rand/1"])
    assert (choices(schedule_policy(np.ones((3, 1))), 5, portfolio=only) == choices(fixed(0), 5, portfolio=only)).all()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (np.zeros((0, 4)), r"shape \(generations, operators\), got \(0, 4\)"),
        (np.array([0.5, 0.5]), r"shape \(generations, operators\), got \(2,\)"),
        (np.array([[0.5, 0.6]]), "every row with sum 1"),
        (np.array([[1.5, -0.5]]), "probabilities"),
        (np.array([[np.nan, 1.0]]), "probabilities"),
    ],
)
def test_bad_tables_are_refused(table, message):
    with pytest.raises(ValueError, match=message):
        schedule_policy(table)


def test_portfolios_of_another_size_or_kind_are_refused():
    with pytest.raises(ValueError, match="gives 2 probabilities, the portfolio has 4 entries"):
        schedule_policy(np.full((3, 2), 0.5)).check_portfolio(PAPER)
    own = schedule_policy(np.full((3, 2), 0.5), portfolio=Portfolio(["rand/1", "rand/2"]))
    with pytest.raises(ValueError, match="was made for the portfolio rand/1"):
        own.check_portfolio(Portfolio(["rand/1", "curr-to-rand/1"]))
