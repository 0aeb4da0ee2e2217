"""Which code runs: plain Python, or machine code (built with the package, or compiled on this machine).

``NUMBA_DISABLE_JIT=1``
    every kernel is the Python function that it was written as
``DEDDQN_JIT=1``
    kernels are compiled on this machine for its own processor, even where the package came with machine code
"""

from __future__ import annotations

import os
import sys


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").strip() not in ("", "0")


def _is_plain() -> bool:
    numba = sys.modules.get("numba")  # not imported for this: it may never be needed
    return _is_set("NUMBA_DISABLE_JIT") if numba is None else bool(numba.config.DISABLE_JIT)


PLAIN = _is_plain()
JIT_ONLY = _is_set("DEDDQN_JIT")
