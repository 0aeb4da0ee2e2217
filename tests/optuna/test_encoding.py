"""Optuna's distributions as a box, and back."""

import math

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")
from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402

from deddqn.optuna.encoding import Encoding  # noqa: E402

SPACE = {
    "number": FloatDistribution(-2.0, 3.0),
    "log": FloatDistribution(1e-5, 10.0, log=True),
    "step": FloatDistribution(0.1, 0.9, step=0.1),
    "integer": IntDistribution(3, 19, step=4),
    "log_integer": IntDistribution(1, 100, log=True),
    "category": CategoricalDistribution(("a", None, 2.5)),
}


def test_the_box():
    encoding = Encoding(SPACE)
    assert encoding.integrality.tolist() == [0, 0, 1, 1, 0, 2]
    assert encoding.bounds[[0, 2, 3, 5]].tolist() == [[-2.0, 3.0], [0.0, 8.0], [0.0, 4.0], [0.0, 2.0]]
    assert encoding.bounds[1] == pytest.approx([math.log(1e-5), math.log(10.0)])
    assert encoding.bounds[4] == pytest.approx([math.log(0.5), math.log(100.5)])


def test_there_and_back():
    encoding, rng = Encoding(SPACE), np.random.default_rng(1)
    for _ in range(300):
        point = rng.uniform(encoding.bounds[:, 0], encoding.bounds[:, 1])
        point[encoding.integrality > 0] = np.round(point[encoding.integrality > 0])
        params = encoding.decode(point)
        for name, distribution in SPACE.items():
            assert distribution._contains(distribution.to_internal_repr(params[name])), (name, params[name])
        again = encoding.encode(params)
        assert again[[0, 1, 2, 3, 5]] == pytest.approx(point[[0, 1, 2, 3, 5]], rel=1e-12)
        assert encoding.decode(again) == params
    assert isinstance(params["integer"], int) and isinstance(params["log_integer"], int)


@pytest.mark.parametrize("end", [0, 1])
def test_the_corners_are_in_the_space(end):
    encoding = Encoding(SPACE)
    params = encoding.decode(encoding.bounds[:, end])
    expected = [
        {"number": -2.0, "log": 1e-5, "step": 0.1, "integer": 3, "log_integer": 1, "category": "a"},
        {"number": 3.0, "log": 10.0, "step": 0.9, "integer": 19, "log_integer": 100, "category": 2.5},
    ]
    assert params == pytest.approx(expected[end])
    assert params["log"] <= 10.0 and params["log"] >= 1e-5


def test_which_trials_fit():
    encoding = Encoding({"number": SPACE["number"]})
    assert encoding.fits(SPACE) and not encoding.fits({})
    assert not encoding.fits({"number": FloatDistribution(-2.0, 4.0)})
