"""Variants of the functions: the same formulas with other shifts and rotations, drawn from the variant's number.

They are no part of CEC2005. Trainings and validations use those of the training functions, which are few.
"""

import numpy as np

from deddqn.problems.cec2005.memory_map import Array

_SEED = 2005


def generator(function: int, variant: int) -> np.random.Generator:
    """Return what draws a variant of the functions that share this function's data."""
    return np.random.default_rng([_SEED, function, variant])


def other_shifts(shifts: Array, box: tuple[float, float], rng: np.random.Generator) -> Array:
    """Return shift vectors from the range of the given ones; what is on the bounds, or 0 as a whole, stays there."""
    kept = np.isin(shifts, box) | ~shifts.any(axis=1, keepdims=True)
    if kept.all():
        return shifts
    free = shifts[~kept]
    return np.where(kept, shifts, rng.uniform(free.min(), free.max(), shifts.shape))


def other_matrices(matrices: Array, rng: np.random.Generator) -> Array:
    """Return every matrix after a random rotation: its condition number stays."""
    return np.stack([random_rotation(matrix.shape[0], rng) @ matrix for matrix in matrices])


def random_rotation(dimension: int, rng: np.random.Generator) -> Array:
    """Return a matrix drawn uniformly from all rotations and reflections."""
    q, r = np.linalg.qr(rng.standard_normal((dimension, dimension)))
    return np.asarray(q * np.sign(np.diag(r)))
