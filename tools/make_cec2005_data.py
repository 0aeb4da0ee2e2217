"""Make, or check, the data file of the CEC2005 functions from optproblems 1.3.

    python tools/make_cec2005_data.py           writes data.npz and data.sha256
    python tools/make_cec2005_data.py --check   compares what is there with optproblems

The data of optproblems (BSD-3) equal the organisers' files bit for bit. What is kept: shift vectors (the
first 50 coordinates), rotation matrices for D = 2, 10, 30, 50, the matrices of F5 and F12, and the
normalisation constants f_max of the compositions, computed by optproblems with its noise switched off.
"""

import argparse
import hashlib
import io
import random
import sys
import zipfile
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray
from optproblems import cec2005

DIMENSIONS = (2, 10, 30, 50)
LARGEST = max(DIMENSIONS)
ROTATED = (3, 7, 8, 10, 11, 14)
SHIFTED = (1, 2, 3, 5, 6, 7, 8, 9, 11, 13, 14, 15, 18, 20, 21, 24)
COMPOSITION_MATRICES = (16, 18, 21, 22, 24)
COMPOSITION_SCALES = (15, 16, 18, 19, 20, 21, 22, 24)
FOLDER = Path(__file__).resolve().parents[1] / "src" / "deddqn" / "problems" / "cec2005"

Arrays = dict[str, NDArray[Any]]


def collect() -> Arrays:
    """Return every array of the file by name, in the order in which they are written."""
    arrays: Arrays = {}
    for number in SHIFTED:
        offsets = np.array(problem_class(number).offsets, dtype=np.float64)
        arrays[f"F{number}/shift"] = offsets[..., :LARGEST]
    arrays["F5/matrix"] = square(cec2005.F5.A)
    arrays["F12/shift"] = np.array(cec2005.F12.alpha, dtype=np.float64)[:LARGEST]
    arrays["F12/sine_matrix"] = square(cec2005.F12.a)
    arrays["F12/cosine_matrix"] = square(cec2005.F12.b)
    for dimension in DIMENSIONS:
        for number in ROTATED:
            matrix = getattr(problem_class(number), f"matrix{dimension}D")
            arrays[f"F{number}/matrix/d{dimension}"] = np.array(matrix, dtype=np.float64)
        for number in COMPOSITION_MATRICES:
            matrices = getattr(problem_class(number), f"matrices{dimension}D")
            arrays[f"F{number}/matrix/d{dimension}"] = np.array(matrices, dtype=np.float64)
        for number in COMPOSITION_SCALES:
            arrays[f"F{number}/f_max/d{dimension}"] = noise_free_f_max(number, dimension)
    return arrays


def problem_class(number: int) -> Any:
    """Return the class of function `number` in optproblems."""
    return getattr(cec2005, f"F{number}")


def square(matrix: Any) -> NDArray[np.int16]:
    """Return the leading 50 x 50 block of a matrix of whole numbers."""
    values = np.array(matrix, dtype=np.float64)[:LARGEST, :LARGEST]
    whole = values.astype(np.int16)
    if not np.array_equal(whole, values):
        raise ValueError("expected a matrix of whole numbers")
    return whole


def noise_free_f_max(number: int, dimension: int) -> NDArray[np.float64]:
    """Return f_max of the ten components, as optproblems computes it, without noise."""
    with mock.patch.object(random, "gauss", return_value=0.0):
        problem = problem_class(number)(dimension)
    return np.array(problem.hybrid_composition_function.f_max, dtype=np.float64)


def digest(array: NDArray[Any]) -> str:
    """SHA-256 of the values of an array, as little-endian bytes in C order."""
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(little.tobytes()).hexdigest()


def packed(arrays: Arrays) -> bytes:
    """Return an npz archive without time stamps."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, array in arrays.items():
            content = io.BytesIO()
            np.save(content, np.ascontiguousarray(array))
            archive.writestr(zipfile.ZipInfo(f"{name}.npy"), content.getvalue(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def checksums(arrays: Arrays) -> str:
    """Return the text of the checksum file: one line "digest  name" per array."""
    return "".join(f"{digest(array)}  {name}\n" for name, array in arrays.items())


def differences(arrays: Arrays) -> list[str]:
    """Return what differs between the files and `arrays`, one sentence each."""
    found = []
    with np.load(FOLDER / "data.npz") as file:
        stored = {name: file[name] for name in file.files}
    if (FOLDER / "data.sha256").read_text() != checksums(stored):
        found.append("data.sha256 lists other checksums")
    if sorted(stored) != sorted(arrays):
        found.append("data.npz holds other names")
    return found + [
        f"{name} differs" for name in stored if name in arrays and not same(name, stored[name], arrays[name])
    ]


def same(name: str, stored: NDArray[Any], found: NDArray[Any]) -> bool:
    """Whether arrays are equal to the bit; computed maxima only to rounding, for processors add in other orders."""
    if "/f_max/" in name:
        return stored.shape == found.shape and np.allclose(stored, found, rtol=1e-9, atol=0.0)
    return digest(stored) == digest(found)


def main() -> int:
    """Write the two files, or with --check compare them; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare the files with optproblems, write nothing")
    arrays = collect()
    if parser.parse_args().check:
        found = differences(arrays)
        print("\n".join(found) or f"data.npz equals optproblems: {len(arrays)} arrays")
        return 1 if found else 0
    (FOLDER / "data.npz").write_bytes(packed(arrays))
    (FOLDER / "data.sha256").write_text(checksums(arrays))
    print(f"wrote {len(arrays)} arrays to {FOLDER / 'data.npz'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
