"""The words that type checkers know are those that the package takes."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from deddqn.de.config import REPAIRS, UPDATINGS
from deddqn.optimize import option_types
from deddqn.optimize.arguments import INITS
from deddqn.optimize.classical import STRATEGY_NAMES


@pytest.mark.parametrize(
    ("literal", "words"),
    [
        (option_types.Repair, REPAIRS),
        (option_types.Updating, UPDATINGS),
        (option_types.InitName, INITS),
        (option_types.ScipyStrategy, STRATEGY_NAMES),
    ],
)
def test_words(literal: Any, words: tuple[str, ...]) -> None:
    assert get_args(literal) == words
