"""Films of a search in two dimensions: the record is true, and the drawing shows it."""

import numpy as np
import pytest
from PIL import Image

from deddqn.animation import record_animation, write_gif
from deddqn.animation.rendering import FrameRenderer
from deddqn.animation.trajectory import DRAWN_AT_START
from deddqn.cli import main
from deddqn.problems import Problem, get
from deddqn.report.style import OPERATOR_COLOURS


@pytest.fixture(scope="module")
def animation():
    return record_animation("cec2005:F12/d2", "random", population_size=12, generations=6, seed=3)


def test_individuals_keep_their_maker_until_they_are_replaced(animation):
    assert (animation.frames[0].makers == DRAWN_AT_START).all()
    assert (animation.frames[-1].makers != DRAWN_AT_START).all()
    for before, after in zip(animation.frames, animation.frames[1:], strict=False):
        moved = (before.points != after.points).any(axis=1)
        np.testing.assert_array_equal(after.makers[~moved], before.makers[~moved])
        assert set(after.makers[moved].tolist()) <= {0, 1, 2, 3}
        made = np.bincount(after.makers[moved], minlength=4)
        assert (made <= np.round(12 * after.shares)).all()


def test_the_maker_of_a_fixed_policy_is_known():
    frames = record_animation("cec2005:F12/d2", "de2", population_size=12, generations=5).frames
    assert set(frames[-1].makers.tolist()) == {DRAWN_AT_START, 1}
    assert frames[-1].shares.tolist() == [0.0, 1.0, 0.0, 0.0]


def test_the_run_is_the_run_of_the_seed(animation):
    assert [frame.evaluations for frame in animation.frames] == [12 * k for k in range(1, 8)]
    problem = get("cec2005:F12/d2")
    values = problem(animation.frames[-1].points)
    assert values.min() - problem.optimum == pytest.approx(animation.frames[-1].best)
    bests = [frame.best for frame in animation.frames]
    assert bests == sorted(bests, reverse=True)
    other = record_animation("cec2005:F12/d2", "random", population_size=12, generations=6, seed=4)
    assert (other.frames[0].points != animation.frames[0].points).any()


def test_the_contour_is_that_of_the_function(animation):
    problem = get("cec2005:F12/d2")
    corner = problem(np.array([problem.lower[0], problem.upper[1]]))
    lowest = problem(problem.lower) - animation.heights[0, 0]
    assert animation.heights[-1, 0] == pytest.approx(corner - lowest)
    assert animation.heights.min() == 0.0


def test_the_gif_moves_and_has_the_colours_of_the_strategies(animation, tmp_path):
    path = write_gif(animation, tmp_path / "films" / "search.gif", between=2)
    assert [p.name for p in path.parent.iterdir()] == ["search.gif"]
    with Image.open(path) as image:
        assert 10 < image.n_frames <= 1 + 2 * 6  # equal images become one
        first = np.asarray(image.convert("RGB")).astype(int)
        image.seek(image.n_frames - 1)
        last = np.asarray(image.convert("RGB")).astype(int)
        assert image.info["duration"] >= 12 * 70  # the last image stays for a while
    assert (first != last).any()
    used = {op for frame in animation.frames for op in frame.makers.tolist()} - {DRAWN_AT_START}
    for op in used:
        colour = [int(OPERATOR_COLOURS[op][k : k + 2], 16) for k in (1, 3, 5)]
        assert (np.abs(last - colour).max(axis=2) <= 8).sum() > 20, OPERATOR_COLOURS[op]


def test_policies_with_an_archive_and_a_shrinking_population_keep_every_individual(tmp_path):
    animation = record_animation("cec2005:F12/d2", "softmax-x", population_size=12, generations=3)
    assert len(animation.operators) == 12 and len(animation.frames) == 4
    for frame in animation.frames:
        assert frame.points.shape == (12, 2) and frame.makers.shape == (12,)
    problem = get("cec2005:F12/d2")
    assert problem(animation.frames[-1].points).min() - problem.optimum == pytest.approx(animation.frames[-1].best)
    renderer = FrameRenderer(animation)
    rows = [text.get_position()[1] for text in renderer.figure.texts if text.get_text() in animation.operators]
    assert len(rows) == 12 and min(rows) > renderer.over_time.get_position().y1  # the legend hides no shares
    assert len({OPERATOR_COLOURS[k % len(OPERATOR_COLOURS)] for k in range(12)}) == 12
    assert write_gif(animation, tmp_path / "x.gif", between=1).stat().st_size > 1000


def test_a_function_without_a_known_optimum():
    bowl = Problem.from_function(lambda x: float(x @ x), [(-1, 1)] * 2, name="bowl")
    animation = record_animation(bowl, "random", population_size=8, generations=2)
    assert (animation.measured, animation.title) == ("best value", "bowl")


def test_the_command(tmp_path, capsys):
    target = tmp_path / "animation.gif"
    arguments = ["animate", "cec2005:F12/d2", "--policy", "de3", "--population-size", "8", "--generations", "2"]
    assert main([*arguments, "--between", "1", "--out", str(target)]) == 0
    assert "2 generations" in capsys.readouterr().out
    assert target.stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cec2005:F12/d10"], "problem must have 2 dimensions to be drawn"),
        (["cec2005:F99/d2"], "unknown problem 'cec2005:F99/d2'"),
        (["cec2005:F12/d2", "--policy", "ddq"], "unknown policy 'ddq'"),
        (["cec2005:F12/d2", "--generations", "0"], "generations must be at least 1, got 0"),
        (["cec2005:F12/d2", "--between", "0", "--generations", "1"], "between must be at least 1, got 0"),
        (["cec2005:F12/d2", "--population-size", "5"], "population_size must be at least 6"),
    ],
)
def test_bad_commands_say_what_is_wrong(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["animate", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
