"""One experiment of the paper's size for all tests of analysis and report."""

import pytest

from tests.experiments.helpers import paper_experiment


@pytest.fixture(scope="session")
def paper_folder(tmp_path_factory):
    """A folder with thirteen methods on ten problems, 25 runs each; the numbers are drawn."""
    folder = tmp_path_factory.mktemp("paper") / "experiment"
    paper_experiment(folder)
    return folder
