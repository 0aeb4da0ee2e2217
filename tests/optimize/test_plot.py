"""The picture of a run: its data, and that it can be drawn whatever the run was like."""

import matplotlib
import numpy as np
import pytest

import deddqn
from deddqn.optimize.plotting import NO_STRATEGY, run_curves
from tests.optimize.objectives import BOX, SMALL, bowl


def test_curves():
    result = deddqn.minimize(bowl, BOX, policy="softmax", history=True, **SMALL)
    curves = run_curves(result)
    assert curves.evaluations.tolist() == [20, 40, 60, 80, 100, 120, 130] and curves.best[-1] == result.fun
    assert curves.shares.shape == (6, 4) and np.allclose(curves.shares.sum(axis=1), 1)
    assert curves.strategies == result.strategies


def test_one_call_draws_and_saves(tmp_path):
    backend = matplotlib.get_backend()
    result = deddqn.minimize(bowl, BOX, history=True, local_share=0, **SMALL)
    figure = deddqn.plot(result, tmp_path / "run.png")
    assert (tmp_path / "run.png").stat().st_size > 10_000
    left, right = figure.axes
    assert np.array_equal(left.lines[0].get_ydata(), result.history.fun)
    assert len(right.collections) == len(result.strategies) and f"{result.nfev} evaluations" in figure.get_suptitle()
    assert matplotlib.get_backend() == backend  # drawing does not change the user's setting


def test_twelve_moves_have_colours_of_their_own_beside_the_axes():
    figure = deddqn.plot(deddqn.minimize(bowl, BOX, portfolio="extended", policy="random", history=True, **SMALL))
    figure.draw_without_rendering()
    shares = figure.axes[1]
    assert len({tuple(area.get_facecolor()[0]) for area in shares.collections}) == 12
    legend = shares.get_legend().get_window_extent()
    assert not legend.overlaps(shares.get_window_extent()) and not legend.overlaps(shares.xaxis.get_tightbbox())


@pytest.mark.parametrize(
    "fun", [lambda x: np.nan, lambda x: -bowl(x), lambda x: 0.0, lambda x: 1e300 * bowl(x), lambda x: bowl(x) ** 30]
)
@pytest.mark.parametrize("options", [{"maxfun": 130}, {"maxfun": 20}, {"maxfun": 130, "maxtime": 0}, {"maxfun": 21}])
def test_odd_runs_can_be_drawn(fun, options, tmp_path):
    result = deddqn.minimize(fun, BOX, population_size=20, rng=1, history=True, **options)
    deddqn.plot(result, tmp_path / "run.svg")
    assert (tmp_path / "run.svg").exists()


@pytest.mark.parametrize(("cma", "local", "named"), [(0.25, 0.0, True), (0.0, 0.2, True), (0.0, 0.0, False)])
def test_the_part_of_others_is_named(cma, local, named):
    result = deddqn.minimize(
        bowl, BOX, history=True, maxfun=2000, cma_share=cma, local_share=local, population_size=20, rng=1
    )
    texts = deddqn.plot(result).axes[1].get_legend().get_texts()
    assert (NO_STRATEGY in [text.get_text() for text in texts]) == named
