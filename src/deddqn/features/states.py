"""The states by name, and the kernels that write them: rows 1-19, what a trial adds, and what a generation does."""

from __future__ import annotations

from typing import NamedTuple

from deddqn._jit import Function
from deddqn.features.authors_history import end_authors_generation, record_authors_application
from deddqn.features.authors_landscape import write_authors_landscape
from deddqn.features.layout import AUTHORS_STATE, PAPER_STATE, check_state
from deddqn.features.recording import end_recorded_generation, record_application


class StateKernels(NamedTuple):
    """The kernels of one state; the loop holds rows 1-19 of the paper's itself."""

    landscape: Function | None
    record: Function
    end_record: Function


_KERNELS = {
    PAPER_STATE: StateKernels(None, record_application, end_recorded_generation),
    AUTHORS_STATE: StateKernels(write_authors_landscape, record_authors_application, end_authors_generation),
}


def state_kernels(state: str) -> StateKernels:
    """The kernels of the state with this name."""
    return _KERNELS[check_state(state)]
