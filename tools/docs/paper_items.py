"""What the paper defines and this package has to have: every item needs a place in the code and a test.

Numbers are the paper's. Lines of the algorithms are counted as it prints them (ends of loops have no number).
"""

from __future__ import annotations

from typing import NamedTuple

from deddqn.features.layout import TABLE_1


class Item(NamedTuple):
    """Something that can be cited: a part with a first and a last line or row, or (0, 0) for the whole part."""

    part: str  # "Algorithm 1", "Table 1", "Sect. 2.1", "Fig. 1", "R2", "OM_3"
    first: int
    last: int
    what: str

    @property
    def label(self) -> str:
        """As it is cited."""
        if not self.first:
            return self.part
        unit = "line" if self.part.startswith("Algorithm") else "row"
        return f"{self.part} {unit} {self.first}" if self.first == self.last else self._range(unit)

    def _range(self, unit: str) -> str:
        return f"{self.part} {unit}s {self.first}-{self.last}"


def _whole(part: str, what: str) -> Item:
    return Item(part, 0, 0, what)


ITEMS = (
    _whole("Sect. 2.1", "the four mutation strategies, crossover, replacement"),
    _whole("Sect. 3.1", "the training phase and its networks"),
    _whole("Algorithm 1", "training, as a whole"),
    Item("Algorithm 1", 2, 2, "fill the memory with random decisions"),
    Item("Algorithm 1", 3, 4, "the primary and the target network"),
    Item("Algorithm 1", 5, 7, "runs, until the budget or the optimum"),
    Item("Algorithm 1", 9, 12, "epsilon-greedy choice"),
    Item("Algorithm 1", 13, 14, "trial, evaluation, the better one stays"),
    Item("Algorithm 1", 15, 15, "store the observation"),
    Item("Algorithm 1", 16, 16, "sample a mini-batch"),
    Item("Algorithm 1", 17, 21, "the Double-DQN target"),
    Item("Algorithm 1", 22, 22, "the gradient step"),
    Item("Algorithm 1", 23, 23, "copy the weights to the target network"),
    _whole("Sect. 3.2", "the online phase"),
    _whole("Algorithm 2", "DE with the trained policy"),
    _whole("Sect. 4.1", "the state"),
    _whole("Table 1", "the state features, as a table"),
    *(Item("Table 1", *block.rows, block.meaning) for block in TABLE_1),
    *(
        _whole(f"OM_{m}", f"improvement over {over}")
        for m, over in enumerate(("the parent", "the best parent", "the best so far", "the median parent"), 1)
    ),
    _whole("Sect. 4.2", "the rewards"),
    *(_whole(f"R{k}", f"reward {k}") for k in (1, 2, 3)),
    _whole("Sect. 5", "the experiment: methods, settings, twelve networks"),
    _whole("Table 2", "all hyper-parameters"),
    _whole("Sect. 5.1", "training and test problems, cycles, 25 runs"),
    _whole("Table 3", "mean and standard deviation of the final errors"),
    _whole("Table 4", "mean ranks"),
    _whole("Table 5", "Li's post-hoc test"),
    _whole("Fig. 1", "box plots"),
    _whole("Sect. 5.2", "the claims"),
    _whole("Sect. 6", "the claims that sum up"),
)
