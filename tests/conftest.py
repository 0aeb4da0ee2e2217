"""What all tests need from the process that they run in."""

from __future__ import annotations

import signal

import pytest

# A shell starts background jobs with Ctrl-C ignored, and children inherit that; the tests that interrupt a search
# need the disposition of a process in the foreground.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def paper_folder(tmp_path_factory):
    """A folder with thirteen methods on ten problems, 25 runs each, for analysis and report; the numbers are drawn."""
    from tests.experiments.methods_for_tests import paper_experiment

    folder = tmp_path_factory.mktemp("paper") / "experiment"
    paper_experiment(folder)
    return folder
