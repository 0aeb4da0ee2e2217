"""Which told point is which of those that were asked for; and asynchronous ask and tell, in any order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from deddqn.engine.run import Run
from deddqn.problems.integrality import Integrality


def expected(run: Run, numbers: set[int]) -> np.ndarray:
    """The points (k, D) whose values are expected: those of these numbers in a generation, or all pending ones."""
    return run.de_state.trials[run.pending] if run.spec.asynchronous else run.points[sorted(numbers)]


def match_asked(run: Run, asked: set[int], points: np.ndarray) -> list[int]:
    """The numbers of told points (k, D) among the `asked` ones of a generation, each once; ValueError for others."""
    waiting: dict[bytes, list[int]] = {}
    for i in sorted(asked, reverse=True):
        if not run.told[i]:
            waiting.setdefault(_key(run.points[i]), []).append(i)
    matched = []
    for point in points:
        same = waiting.get(_key(point))
        if not same:
            raise ValueError(f"points must come from ask and be told once, got {point}")
        matched.append(same.pop())
    return matched


def _key(point: np.ndarray) -> bytes:
    return (point + 0.0).tobytes()  # -0.0 and 0.0 are the same point


# Asynchronous


def hand_out(run: Run, handed: set[int], wanted: int, ready: Callable[[], None]) -> np.ndarray:
    """Points (k, D), k at most `wanted`: first pending ones whose tickets are not in `handed`, then new ones.

    Adds their tickets to `handed`. There are fewer than `wanted` when the budget is handed out. `ready` is called when
    a new population has values enough, so that trials begin.
    """
    rows = [int(row) for row in run.pending if int(run.de_state.tickets[row]) not in handed][:wanted]
    points = [run.de_state.trials[row].copy() for row in rows]
    handed.update(int(run.de_state.tickets[row]) for row in rows)
    while len(points) < wanted:
        waiting = not run.initialised
        row = run.ask_point()
        if waiting and run.initialised:
            ready()
        if row < 0:
            break
        points.append(run.de_state.trials[row].copy())
        handed.add(int(run.de_state.tickets[row]))
    return np.array(points).reshape(len(points), run.spec.problem.dimension)


def match_pending(run: Run, points: np.ndarray) -> list[int]:
    """The tickets of told points (k, D), each pending one at most once; -1 for points that were not asked for.

    Those have to lie inside of the bounds: ValueError before anything is entered.
    """
    rows = run.pending
    pending, tickets = run.de_state.trials[rows], run.de_state.tickets[rows]
    free, matched = np.ones(len(rows), dtype=bool), []
    for point in points:
        same = np.flatnonzero(free & (pending == point).all(axis=1))
        if same.size:
            free[same[0]] = False
        else:
            _check_foreign(run, point)
        matched.append(int(tickets[same[0]]) if same.size else -1)
    return matched


def _check_foreign(run: Run, point: np.ndarray) -> None:
    de_state = run.de_state
    inside = (point >= de_state.search_lower) & (point <= de_state.search_upper) & np.isfinite(point)
    if not inside.all():
        raise ValueError(f"points must come from ask or lie inside of the bounds, got {point}")
    whole = np.isin(run.spec.problem.integrality, (Integrality.INTEGER, Integrality.CATEGORICAL))
    if (point != np.round(point))[whole].any():
        raise ValueError(f"points must have whole numbers in the coordinates with integrality, got {point}")


def tell(run: Run, handed: set[int], points: np.ndarray, values: np.ndarray, ended: Callable[[], None]) -> None:
    """Enter the values (k,) of points (k, D), asked ones or others; `ended` is called when a generation ends."""
    if points.shape[1:] != (run.spec.problem.dimension,):
        raise ValueError(f"points must have {run.spec.problem.dimension} coordinates, got shape {points.shape}")
    for ticket, point, value in zip(match_pending(run, points), points, values, strict=True):
        handed.discard(ticket)
        if enter(run, ticket, point, float(value)):
            ended()


def enter(run: Run, ticket: int, point: np.ndarray, value: float) -> bool:
    """Enter the value of a matched point; return whether a generation ended with it."""
    if ticket < 0:
        return run.tell_foreign(point, value)
    rows = run.pending
    return run.tell_point(int(rows[run.de_state.tickets[rows] == ticket][0]), value)
