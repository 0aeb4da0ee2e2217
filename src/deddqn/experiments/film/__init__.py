"""A search in two dimensions as a film: a record of all generations, and its drawing as an animated GIF."""

from deddqn.experiments.film.figures import write_gif
from deddqn.experiments.film.record import Film, Frame, record_film

__all__ = ["Film", "Frame", "record_film", "write_gif"]
