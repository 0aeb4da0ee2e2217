"""Who should search next: what is counted, what is fitted, and that all ways go on from the same state."""

import math

import numpy as np
import pytest

from benchmarks.late_decisions import INPUTS, WAYS, best_split, finish, half_way, learned, main, roll, wins
from deddqn.problems.made.recipes import recipe

NUMBER = next(n for n in range(1000) if (made := recipe("made", n)).dimension == 5 and 16_000 < made.budget < 40_000)


def test_wins_by_hand():
    """Trials end at 1 and 3, DE at 2 and 2, CMA-ES at 1e-9 (solved: 0) and 1, a new beginning at 9 and 3."""
    ends = {"trial": (1, 3), "DE": (2, 2), "CMA": (1e-9, 1), "again": (9, 3)}
    row = {f"{way} {k}": repr(float(end)) for way, pair in ends.items() for k, end in enumerate(pair)}
    np.testing.assert_allclose(wins([row], [0, 1]), [[0.0, 0.0, 3.5 / 4 - 0.5, 0.5 / 4 - 0.5]])


def test_what_depends_on_an_input_is_learned():
    rng = np.random.default_rng(3)
    inputs = rng.normal(size=(400, len(INPUTS)))
    gains = np.zeros((400, len(WAYS)))
    gains[:, 1] = np.where(inputs[:, 3] > 0.2, 0.4, -0.4)
    gains[:, 2:] = -0.3
    asked = rng.normal(size=(200, len(INPUTS)))
    right = np.where(asked[:, 3] > 0.2, 1, 0)
    assert (best_split(inputs, gains, asked) == right).mean() > 0.95
    assert (learned(inputs, gains, asked) == right).mean() > 0.85


def test_all_ways_go_on_from_the_same_state():
    made = recipe("made", NUMBER)
    run, inputs = half_way(made, 0)
    state, best = run.arena.copy(), run.best_value
    assert len(inputs) == len(INPUTS) and np.isfinite(inputs).all() and run.evaluations < run.spec.config.hand_over
    scaled = (run.population - run.population.mean(axis=0)) / (run.de_state.upper - run.de_state.lower)
    assert 10.0 ** inputs[INPUTS.index("extent")] == pytest.approx(np.abs(scaled).mean(), rel=1e-6)
    ends = {way: [finish(run, way, k) for k in (0, 0, 1)] for way in WAYS}
    assert run.arena.tobytes() == state.tobytes()
    for found in ends.values():
        assert max(found) <= best and found[0] == found[1]
    assert len({tuple(found) for found in ends.values()}) > 1


def test_a_row_holds_state_and_ends():
    row = roll(("made", NUMBER, 0, 2))
    assert row is not None and {f"{way} 1" for way in WAYS} <= row.keys()
    assert float(str(row["log10 D"])) == pytest.approx(math.log10(5))


def test_runs_with_other_rollouts_are_not_mixed(tmp_path):
    path = tmp_path / "runs.csv"
    path.write_text("family,number,repeat,base\nmade,1,0,SPHERE\n")
    with pytest.raises(SystemExit, match="--out must be a file of runs with 2 rollouts"):
        main(["--problems", "1", "--rollouts", "2", "--out", str(path)])
