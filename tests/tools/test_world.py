"""How methods are judged on made problems: among all others, or each alone among peers."""

from argparse import Namespace

import numpy as np
import pytest

from benchmarks.world import main, print_differences, rivals_of, scores

ERRORS = [np.array([1.0, 3.0]), np.array([1.1, 3.1]), np.array([2.0, 2.0]), np.array([4.0, 3.0])]


def test_among_all_others():
    rivals = rivals_of(Namespace(methods=["a", "b", "c", "d"], among=[], against=None))
    assert rivals == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    found, ranks = scores(ERRORS, rivals)
    assert ranks.tolist() == [1.5, 3.0, 1.5, 4.0]  # medians 2, 2.1, 2, 3.5
    assert found[0] == pytest.approx((6 + 2 + 0.5) / 12)  # 1.0 beats all six, 3.0 two, and ties with one


def test_versions_of_one_method_do_not_meet_among_peers():
    """By hand: 1.0 beats all four runs of the peers, 3.0 beats one and ties with one."""
    rivals = rivals_of(Namespace(methods=["a", "b", "c", "d"], among=["c", "d"], against=None))
    assert rivals == [[2, 3], [2, 3], [3], [2]]
    found, ranks = scores(ERRORS, rivals)
    np.testing.assert_allclose(found, [(4 + 1.5) / 8, (4 + 1) / 8, 1.0, 0.0])
    assert ranks.tolist() == [1.5, 2.0, 1.0, 2.0]


def test_peers_are_judged_among_as_many_as_the_method_they_are_compared_with():
    rivals = rivals_of(Namespace(methods=["a", "b", "c", "d"], among=["c", "d"], against="b"))
    assert rivals == [[2, 3], [2, 3], [3, 1], [2, 1]]
    within = rivals_of(Namespace(methods=["a", "c", "d"], among=["c", "d"], against="c"))
    assert within == [[1, 2], [2], [1]]


@pytest.mark.parametrize("arguments", [["softmax"], ["rcmaes", "--among", "rcmaes"]])
def test_one_method_cannot_be_judged(arguments, capsys):
    with pytest.raises(SystemExit):
        main(arguments)
    assert "at least two methods" in capsys.readouterr().err


def test_differences_to_one_method(capsys):
    """By hand: 0.1 and 0.3 lower, the second problem's base function counts alone; the peer is not shown."""
    options = Namespace(methods=["a", "b", "peer"], among=["peer"], against="a")
    print_differences(options, np.array([[0.5, 0.4, 0.9], [0.7, 0.4, 0.1]]), np.array(["one", "two"]))
    heading, row = capsys.readouterr().out.strip().splitlines()
    assert heading.startswith("beside a")
    assert row.split() == ["b", "-0.200", "-0.300", "to", "-0.100", "0", "2"]
