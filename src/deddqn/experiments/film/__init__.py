"""A search in two dimensions as a film: a record of all generations, and its drawing as an animated GIF."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deddqn.lazy import lazy_names

if TYPE_CHECKING:
    from deddqn.experiments.film.figures import write_gif
    from deddqn.experiments.film.record import Film, Frame, record_film
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "deddqn.experiments.film.figures": ("write_gif",),
            "deddqn.experiments.film.record": ("Film", "Frame", "record_film"),
        },
    )

__all__ = ["Film", "Frame", "record_film", "write_gif"]
