"""Recording: what history and window take from evaluated trials, by kernels that the loop calls by address.

A run in which nobody reads rows 20-99 of Table 1 does without, and does not compile them.
"""

from __future__ import annotations

from deddqn._jit import caller_of, kernel
from deddqn.de.state import DE_STATE, Outcome
from deddqn.features.buffers import OBSERVER
from deddqn.features.history import finish_history, metrics_of, note_application
from deddqn.features.window import enter_window

RECORD_SIGNATURE = "int64(int64, int64, int64, int64)"
"""record(address of the DE state, address of the observer, individual, operator) -> 0"""
END_RECORD_SIGNATURE = "int64(int64)"
"""finish(address of the observer) -> 0"""

call_record, call_end_record = caller_of(RECORD_SIGNATURE), caller_of(END_RECORD_SIGNATURE)
DE_STATE_AT, OBSERVER_AT = DE_STATE.at, OBSERVER.at


@kernel(RECORD_SIGNATURE)
def record_application(de_state, address, i, op):
    """Record the latest trial, which operator `op` made of individual `i`."""
    outcome, observer = DE_STATE_AT(de_state).outcome, OBSERVER_AT(address)
    metrics = metrics_of(outcome)
    note_application(observer, op, metrics)
    if outcome[Outcome.TRIAL] < outcome[Outcome.PARENT]:
        enter_window(observer, op, metrics, outcome[Outcome.TRIAL])
    return 0


@kernel(END_RECORD_SIGNATURE)
def end_recorded_generation(address):
    """Close the generation."""
    finish_history(OBSERVER_AT(address))
    return 0
