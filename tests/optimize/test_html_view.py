"""Results and optimizers in a notebook."""

import pickle
from xml.etree import ElementTree

import numpy as np
import pytest

from deddqn import Optimizer, minimize
from deddqn.optimize.html_view import convergence_svg, result_html
from deddqn.optimize.result import Result
from tests.optimize.objectives import BOX, SMALL, bowl


def cells(page):
    """The table as a dictionary; the page is well-formed."""
    rows = ElementTree.fromstring(page).iter("tr")
    return {row.find("th").text: row.find("td").text for row in rows}


def test_a_result():
    result = minimize(bowl, BOX, **SMALL)
    found = cells(result._repr_html_())
    assert found["best value"] == f"{result.fun:.8g}" and found["message"] == "All 130 evaluations are used."
    assert found["x"].count(",") == 3 and found["x"].startswith(f"[{result.x[0]:.8g}, ")
    assert found["evaluations"] == f"130, {result.nit} generations" and "seed 7" in found["policy"]
    assert "<svg" not in result._repr_html_()
    assert "_repr_html_" not in result and not hasattr(pickle.loads(pickle.dumps(result)), "_repr_html_")


def test_a_history_is_drawn():
    result = minimize(bowl, BOX, history=True, **SMALL)
    drawing = ElementTree.fromstring(result._repr_html_()).find("svg")
    line = [tuple(map(float, pair.split(","))) for pair in drawing.find("polyline").get("points").split()]
    assert len(line) == len(result.history.nfev) and line[0][0] < line[-1][0] and line[0][1] < line[-1][1]
    assert all(0 <= x <= 320 and 0 <= y <= 90 for x, y in line)
    assert result.history._repr_html_() is None


@pytest.mark.parametrize(
    ("values", "drawn"),
    [([1, 1], True), ([np.inf, 1], False), ([np.inf, 3, 2], True), ([], False), ([1e308, -1e308], True)],
)
def test_odd_histories(values, drawn):
    drawing = convergence_svg({"nfev": np.arange(len(values)), "fun": np.array(values, dtype=float)})
    assert bool(drawing) == drawn and "nan" not in drawing and "inf" not in drawing.replace("info", "")


def test_long_histories_stay_small():
    values = np.exp(-np.arange(100_000.0) / 1e4)
    drawing = convergence_svg({"nfev": np.arange(100_000), "fun": values})
    assert len(drawing) < 6000 and "(logarithmic)" in drawing and "99999 evaluations" in drawing


def test_everything_is_escaped():
    bad = "<script>alert('1')</script>&"
    page = result_html(Result(x=np.zeros(30), fun=np.nan, message=bad, policy=bad, seed=bad, nfev=bad), title=bad)
    assert "<script" not in page and cells(page)["message"] == bad
    assert cells(page)["x"].endswith("... (30 coordinates)]") and cells(page)["best value"] == "nan"


def test_named_parameters_and_constraints():
    found = cells(result_html(Result(x=np.zeros(2), fun=1.0, params={"<b>": "<i>", "rate": 0.5}, maxcv=0.25)))
    assert found["x"] == "<b> = <i>, rate = 0.5" and found["largest violation"] == "0.25"


def test_an_optimizer():
    optimizer = Optimizer(BOX, **SMALL)
    assert cells(optimizer._repr_html_())["evaluations"] == "0 of 130, 0 generations"
    optimizer.optimize(bowl)
    page = optimizer._repr_html_()
    assert "Optimizer, 4 dimensions" in page and cells(page)["best value"] == f"{optimizer.result.fun:.8g}"
