"""The style of methods and operators, the same in every figure: colours and dashes; families share a hue."""

from __future__ import annotations

_METHODS = {
    "random": ("#3d4451", ""),
    "de1": ("#8a93a3", "5 3"),
    "de2": ("#b08968", "5 3"),
    "de3": ("#7f5539", "5 3"),
    "de4": ("#a8a29e", "2 2"),
    "pm-adapss": ("#1f9e89", ""),
    "f-auc": ("#7cb342", ""),
    "rec-pm": ("#14633f", ""),
    "lr-cmaes": ("#b07aea", ""),
    "ipop-cmaes": ("#6a1fb0", ""),
    "ddqn-r1": ("#f2994a", ""),
    "ddqn-r2": ("#d62839", ""),
    "ddqn-r3": ("#d4a200", ""),
}
_FURTHER = (
    "#1f77b4",
    "#e377c2",
    "#17becf",
    "#9c755f",
    "#0b3c8c",
    "#ff6f91",
    "#5c7a29",
    "#845ec2",
    "#c34a36",
    "#008f7a",
)
OPERATOR_COLOURS = (
    "#4c78a8",
    "#f2a33a",
    "#54a24b",
    "#b279a2",
    "#e45756",
    "#72b7b2",
    "#9d755d",
    "#bab0ac",
    "#1c3d6e",
    "#ff9da6",
    "#eeca3b",
    "#7a1f5c",
)


def operator_colour(op: int) -> str:
    """The colour of an operator, by its number in the portfolio."""
    return OPERATOR_COLOURS[op % len(OPERATOR_COLOURS)]


def style_of(method: str, methods: tuple[str, ...]) -> tuple[str, str]:
    """Colour and dash pattern; methods beyond the paper's take the next free colour."""
    if method in _METHODS:
        return _METHODS[method]
    further = [name for name in methods if name not in _METHODS]
    k = further.index(method) if method in further else 0
    return _FURTHER[k % len(_FURTHER)], "" if k < len(_FURTHER) else "4 2"
