"""A search in two dimensions as a film: a record of all generations, and its drawing as an animated GIF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn._utils.lazy_imports import lazy_names

if TYPE_CHECKING:
    from deddqn.animation.rendering import write_gif
    from deddqn.animation.trajectory import Film, Frame, record_film
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.animation.rendering": ("write_gif",),
            "deddqn.animation.trajectory": ("Film", "Frame", "record_film"),
        },
    )

__all__ = ["Film", "Frame", "record_film", "write_gif"]
