"""Outcomes: what history and window learn from settled trials, by kernels that the loop calls by address.

A run in which nobody reads rows 20-99 of Table 1 does without, and does not compile them.
"""

from __future__ import annotations

from deddqn._jit import caller_of, kernel
from deddqn.de.state import SEARCH, Fact
from deddqn.features.buffers import OBSERVER
from deddqn.features.history import finish_history, metrics_of, note_application
from deddqn.features.window import enter_window

NOTE_SIGNATURE = "int64(int64, int64, int64)"
"""note(address of the search, address of the observer, operator) -> 0"""
FINISH_SIGNATURE = "int64(int64)"
"""finish(address of the observer) -> 0"""

call_note, call_finish = caller_of(NOTE_SIGNATURE), caller_of(FINISH_SIGNATURE)
SEARCH_AT, OBSERVER_AT = SEARCH.at, OBSERVER.at


@kernel(NOTE_SIGNATURE)
def note_outcome(search, address, op):
    """Enter the trial settled last, which operator `op` made."""
    facts, observer = SEARCH_AT(search).facts, OBSERVER_AT(address)
    metrics = metrics_of(facts)
    note_application(observer, op, metrics)
    if facts[Fact.TRIAL] < facts[Fact.PARENT]:
        enter_window(observer, op, metrics, facts[Fact.TRIAL])
    return 0


@kernel(FINISH_SIGNATURE)
def finish_outcomes(address):
    """Close the generation."""
    finish_history(OBSERVER_AT(address))
    return 0
