"""Differential Evolution (Sect. 2.1) and its extensions: operators, pre-screening, selection, adaptation, restarts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.de.config import DEConfig
    from deddqn.de.portfolio import EXTENDED, PAPER, Operator, Portfolio
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {"deddqn.de.config": ("DEConfig",), "deddqn.de.portfolio": ("EXTENDED", "PAPER", "Operator", "Portfolio")},
    )

__all__ = ["EXTENDED", "PAPER", "DEConfig", "Operator", "Portfolio"]
