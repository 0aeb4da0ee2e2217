"""Shifting and rotating a point. Vectors are parts (see `deddqn._jit.part`) of the padded length."""

from deddqn._jit import kernel
from deddqn.problems.cec2005.memory_map import Array, padded


@kernel(numeric=True, inline=True)
def shift(x: Array, dimension: int, origin: Array, moved: Array) -> None:
    """Write x - origin to `moved`, and 0 to its padding; x alone is not padded."""
    for i in range(dimension):
        moved[i] = x[i] - origin[i]
    for i in range(dimension, padded(dimension)):
        moved[i] = 0.0


@kernel(numeric=True, inline=True)
def add_rotated(vector: Array, matrix: Array, dimension: int, z: Array) -> None:
    """Add sum_i vector_i M[i, j] to z_j, four rows a pass; `matrix` holds M row by row, padded."""
    size = padded(dimension)
    for i in range(0, dimension, 4):
        row_a = i * size
        row_b = row_a + size
        row_c = row_b + size
        row_d = row_c + size
        a = vector[i]
        b = vector[i + 1]
        c = vector[i + 2]
        d = vector[i + 3]
        for j in range(size):
            upper = a * matrix[row_a + j] + b * matrix[row_b + j]
            z[j] += upper + (c * matrix[row_c + j] + d * matrix[row_d + j])


@kernel(numeric=True, inline=True)
def rotate(vector: Array, matrix: Array, dimension: int, z: Array) -> None:
    """Write z_j = sum_i vector_i M[i, j]."""
    for j in range(padded(dimension)):
        z[j] = 0.0
    add_rotated(vector, matrix, dimension, z)
