"""Compiled code: kernels and the memory that they share, with numba only where something must be compiled.

=================  ====================================================================================
module             what it is about
=================  ====================================================================================
`kernels`          ``@kernel``: functions that run as machine code
`pointers`         kernels and arrays by address
`structs`          named arrays inside one flat array: the memory of a run
`contents`         what these arrays may hold, for memory that comes from a file
`machine_code`     loading and calling entries
`stored`           machine code in files: built with the package, or cached
`compiler`         numba and LLVM: from kernels to machine code (imported only when needed)
`lowering`         what numba has no words for, as LLVM code (imported only when needed)
`build`            the machine code that the package ships (imported by the build)
=================  ====================================================================================
"""

from deddqn._jit.kernels import Function, Intrinsic, Kernel, intrinsic, kernel, shared
from deddqn._jit.mode import PLAIN
from deddqn._jit.pointers import (
    OBJECTIVE_SIGNATURE,
    address_of,
    call_objective,
    call_python_object,
    caller_of,
    constrained_of_jitted,
    copy,
    count_at,
    doubles_at,
    fill,
    floats_at,
    integers_at,
    is_jitted,
    linked,
    objective_of_jitted,
    part,
    small_integers_at,
)
from deddqn._jit.structs import Field, Layout, Record, address_of_record


def describe() -> list[tuple[str, str]]:
    """Which code runs here and where it comes from, as pairs of a label and a text."""
    if PLAIN:
        return [("kernels", "plain Python (NUMBA_DISABLE_JIT is set)")]
    from deddqn._jit import machine_code, stored

    packaged = machine_code.packaged()
    if packaged.fits:
        return [("kernels", f"machine code of the package, {packaged.description}"), ("code", str(packaged.path))]
    folder = stored.cache_folder()
    kept = str(folder) if folder is not None else "none: there is no folder that can be written"
    return [("kernels", f"compiled at first use (of the package: {packaged.description})"), ("cache", kept)]


__all__ = [
    "OBJECTIVE_SIGNATURE",
    "PLAIN",
    "Field",
    "Function",
    "Intrinsic",
    "Kernel",
    "Layout",
    "Record",
    "address_of",
    "address_of_record",
    "call_objective",
    "call_python_object",
    "caller_of",
    "constrained_of_jitted",
    "copy",
    "count_at",
    "describe",
    "doubles_at",
    "fill",
    "floats_at",
    "integers_at",
    "intrinsic",
    "is_jitted",
    "kernel",
    "linked",
    "objective_of_jitted",
    "part",
    "shared",
    "small_integers_at",
]
