"""A search in two dimensions as an animation: a record of all generations, and its drawing as an animated GIF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.animation.rendering import write_gif
    from deddqn.animation.trajectory import Animation, Frame, record_animation
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.animation.rendering": ("write_gif",),
            "deddqn.animation.trajectory": ("Animation", "Frame", "record_animation"),
        },
    )

__all__ = ["Animation", "Frame", "record_animation", "write_gif"]
