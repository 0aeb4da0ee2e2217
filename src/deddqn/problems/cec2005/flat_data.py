"""Laying the numbers of one function out as flat data (see `layout`)."""

import math

import numpy as np

from deddqn.problems.cec2005.memory_map import (
    BIAS,
    CONDITIONS,
    FIELDS,
    FREQUENCIES,
    HEADER,
    LANES,
    MATRICES,
    NOISE,
    ROUNDED,
    SHIFTS,
    Array,
    padded,
)


def pack(
    *,
    bias: float,
    shifts: Array,
    matrices: Array | None = None,
    noise: float = 0.0,
    rounded: bool = False,
    fields: Array | None = None,
) -> Array:
    """Return the flat data of one function.

    Parameters
    ----------
    bias, noise, rounded
        The header.
    shifts : (count, D) array
    matrices : (count, D, D) array, optional
    fields : (count, FIELDS) array, optional
        Numbers of the components; only compositions read them.

    Returns
    -------
    (n,) array, read-only
    """
    count, dimension = shifts.shape
    size = padded(dimension)
    coordinate = np.arange(dimension)
    header = np.zeros(HEADER)
    header[[BIAS, NOISE, ROUNDED]] = bias, noise, rounded
    parts = [header, np.zeros((count, FIELDS)) if fields is None else fields]

    def append(section: int, values: Array, axes: int) -> None:
        header[section] = sum(part.size for part in parts)
        padding = [(0, 0)] * (values.ndim - axes) + [(0, size - dimension)] * axes
        parts.append(np.pad(values, padding))

    append(FREQUENCIES, 1.0 / (2.0 * math.pi * np.sqrt(coordinate + 1.0)), 1)
    append(CONDITIONS, 1e6 ** (coordinate / (dimension - 1)), 1)
    append(SHIFTS, shifts, 1)
    if matrices is not None:
        append(MATRICES, matrices, 2)
    data = aligned_zeros(sum(part.size for part in parts))
    np.concatenate([part.ravel() for part in parts], out=data)
    data.flags.writeable = False
    return data


def aligned_zeros(length: int) -> Array:
    """Zeros that begin at a multiple of `LANES` numbers, so that rows of matrices fill whole cache lines."""
    room = np.zeros(length + LANES)
    first = -(room.ctypes.data // room.itemsize) % LANES
    return room[first : first + length]


def component_fields(count: int, columns: dict[int, list[float]]) -> Array:
    """Return the (count, FIELDS) numbers of the components from one list per field."""
    fields = np.zeros((count, FIELDS))
    for field, values in columns.items():
        fields[:, field] = values
    return fields
