"""Results and optimizers in a notebook: a small table, and the convergence as a line where a history was kept."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from deddqn.optimize.optimizer import Optimizer

SHOWN_COORDINATES = 10
WIDTH, HEIGHT = 320, 90  # of the drawing
MOST_POINTS = 160  # of the line
LOGARITHMIC = 20.0  # from this ratio of the largest to the smallest value on
CELL = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"


def result_html(result: Any, title: str = "Result", maxfun: int | None = None) -> str:
    """A result as a table; everything that comes from the search or the user is escaped."""
    nfev = result.get("nfev")
    evaluations = f"{nfev}" if maxfun is None else f"{nfev} of {maxfun}"
    facts = {
        "best value": _number(result.get("fun")),
        **({"params": _parameters(result["params"])} if "params" in result else {"x": _coordinates(result.get("x"))}),
        "evaluations": f"{evaluations}, {result.get('nit')} generations",
        "success": str(result.get("success")),
        "message": str(result.get("message")),
        "policy": f"{result.get('policy')}, seed {result.get('seed')}",
    }
    if "params" in result:
        facts["x"] = ", ".join(f"{name} = {_number(value)}" for name, value in result["params"].items())
    if "maxcv" in result:
        facts["largest violation"] = _number(result["maxcv"])
    rows = "".join(
        f'<tr><th scope="row" style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(text)}</td></tr>'
        for name, text in facts.items()
    )
    drawing = convergence_svg(result.get("history"))
    return f"<div><strong>{escape(title)}</strong><table>{rows}</table>{drawing}</div>"


def optimizer_html(optimizer: Optimizer) -> str:
    """An optimizer as what it has found so far."""
    dimension = optimizer.problem.dimension
    return result_html(optimizer.result, f"Optimizer, {dimension} dimensions", optimizer.maxfun)


def _number(value: Any) -> str:
    return f"{value:.8g}" if isinstance(value, float | int | np.number) else str(value)


def _parameters(params: dict[str, Any]) -> str:
    return ", ".join(
        f"{name} = {_number(value) if isinstance(value, float) else value!r}" for name, value in params.items()
    )


def _coordinates(point: Any) -> str:
    values = np.ravel(point)
    shown = ", ".join(_number(value) for value in values[:SHOWN_COORDINATES])
    more = f", ... ({values.size} coordinates)" if values.size > SHOWN_COORDINATES else ""
    return f"[{shown}{more}]"


def convergence_svg(history: Any) -> str:
    """Best value over evaluations as a line; logarithmic where the values allow it; "" without two finite values."""
    if history is None:
        return ""
    evaluations, best = np.asarray(history["nfev"], dtype=float), np.asarray(history["fun"], dtype=float)
    known = np.isfinite(best)
    evaluations, best = evaluations[known], best[known]
    if best.size < 2:
        return ""
    chosen = np.unique(np.linspace(0, best.size - 1, min(best.size, MOST_POINTS)).astype(int))
    evaluations, best = evaluations[chosen], best[chosen]
    logarithmic = best.min() > 0 and best.max() > LOGARITHMIC * best.min()
    heights = np.log10(best) if logarithmic else best
    x = _scaled(evaluations) * (WIDTH - 8) + 4
    y = HEIGHT - 4 - _scaled(heights) * (HEIGHT - 8)
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True))
    scale = " (logarithmic)" if logarithmic else ""
    told = f"best value{scale} over {evaluations[-1]:.0f} evaluations: {best[0]:.4g} to {best[-1]:.4g}"
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(told)}"><title>{escape(told)}</title>'
        f'<rect x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}" fill="none" stroke="currentColor" '
        f'stroke-opacity="0.25"/><polyline points="{line}" fill="none" stroke="#3b7dd8" stroke-width="1.8"/></svg>'
        f'<div style="opacity:.7;font-size:smaller">{escape(told)}</div>'
    )


def _scaled(values: np.ndarray) -> np.ndarray:
    """Values in [0, 1]; halves before differences, which would overflow for the largest numbers."""
    low, high = values.min() / 2, values.max() / 2
    return (values / 2 - low) / (high - low) if high > low else np.full(values.shape, 0.5)
