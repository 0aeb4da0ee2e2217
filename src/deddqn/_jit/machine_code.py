"""Machine code at run time: loaded from the package or from this user's cache, compiled where neither has it.

Loading takes LLVM's object loader (llvmlite) and no compiler. Code is used only where it fits: built from exactly these
sources, for this kind of system, for abilities that the processor has, and with every symbol that it needs at hand.
"""

from __future__ import annotations

import ctypes
import pickle
import sys
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from deddqn._jit import stored
from deddqn._jit.kernels import Function, Kernel
from deddqn._jit.mode import JIT_ONLY
from deddqn._jit.signatures import SCALARS, Argument, parse

UNLOCKED = " without the lock"
_OK, _RAISED, _NONE = 0, 1, -2  # status: fine, an exception of the kernel's own, fine and None
_PLAIN: dict[str, Callable[[Any], Any]] = {"int64": int, "float64": float, "boolean": bool}
_LOCK = threading.RLock()
_LOADED: dict[str, str] = {}
"""Operator -> where its code came from: "package", "cache" or "compiled"."""


class _Error(ctypes.Structure):
    """What a kernel leaves when it raises: the pickled exception class and arguments."""

    _fields_ = [("pickled", ctypes.c_void_p), ("size", ctypes.c_int32)]


@cache
def _engine() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine()
    return llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)


def _load(code: bytes) -> None:
    import llvmlite.binding as llvm

    _engine().add_object_file(llvm.ObjectFileRef.from_data(code))


@cache
def packaged() -> stored.PackagedCode:
    """The machine code of the package, and whether it is used."""
    return stored.PackagedCode({}, None, "DEDDQN_JIT is set") if JIT_ONLY else stored.packaged_code()


def ensure(kernel: Kernel) -> None:
    """Load the code of an entry, or compile and keep it."""
    with _LOCK:
        if kernel.name in _LOADED:
            return
        source, code = "package", packaged().read(kernel.name)
        if code is None:
            source, code = "cache", stored.cached_code(kernel)
        if code is None:
            source, code = "compiled", _compile(kernel)
            stored.keep(kernel, code)
        _load(code)
        _LOADED[kernel.name] = source


_announced = False


def _compile(kernel: Kernel) -> bytes:
    """Compile; say so once, if a person is watching."""
    global _announced
    if not _announced and sys.stderr.isatty():
        print("deddqn: compiling for this processor, about 12 s in all; the next time it is there", file=sys.stderr)
    _announced = True
    from deddqn._jit.compiler import object_of

    return object_of(kernel, stored.best_level())


def address_of_entry(kernel: Kernel) -> int:
    """Where the code of an entry begins."""
    with _LOCK:
        ensure(kernel)
        return int(_engine().get_function_address(kernel.name))


def callable_of(kernel: Kernel) -> Function:
    """An entry for callers in Python; Python's lock is free while it runs."""
    assert kernel.signature is not None
    with _LOCK:
        ensure(kernel)
        address = _engine().get_function_address(kernel.name + UNLOCKED)
    signature = parse(kernel.signature)
    # PYFUNCTYPE keeps the lock (the code itself releases it) and looks for an exception when it returns.
    prototype = ctypes.PYFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_void_p, *signature.argtypes)
    function = prototype(address)
    converters = [_converter(kernel.name, argument) for argument in signature.arguments]
    result_type = SCALARS.get(signature.returned, ctypes.c_int64)
    plain = tuple(_PLAIN[argument.element] if argument.axes == 0 else None for argument in signature.arguments)

    def converted(arguments: tuple[Any, ...]) -> list[Any]:
        passed: list[Any] = []
        for convert, argument in zip(converters, arguments, strict=True):
            convert(passed, argument)
        return passed

    def call(*arguments: Any) -> Any:
        if len(arguments) != len(converters):
            raise TypeError(f"{kernel.name}() takes {len(converters)} arguments, got {len(arguments)}")
        result, error = result_type(), ctypes.c_void_p()
        passed = (
            arguments if tuple(map(type, arguments)) == plain else converted(arguments)
        )  # twice as fast for numbers
        status = function(ctypes.byref(result), ctypes.byref(error), *passed)
        if status == _OK:
            return result.value
        if status == _NONE:
            return None
        raise _exception(status, error)

    return call


def _exception(status: int, error: Any) -> BaseException:
    """What a kernel raised by itself; what Python code below it raised has already come out of the call."""
    if status != _RAISED or not error.value:
        return SystemError(f"a kernel ended with the unknown status {status}")
    found = _Error.from_address(error.value)
    kind, arguments, *_ = pickle.loads(ctypes.string_at(found.pickled, found.size))  # a constant of our own code
    return kind(*arguments)


def _converter(name: str, argument: Argument) -> Callable[[list[Any], Any], None]:
    """How an argument is put on the stack."""
    if argument.axes == 0:
        kind = _PLAIN[argument.element]
        return lambda passed, value: passed.append(kind(value))
    dtype = np.dtype(np.bool_ if argument.element == "boolean" else argument.element)

    def put(passed: list[Any], array: np.ndarray) -> None:
        if array.dtype != dtype or array.ndim != argument.axes or not array.flags.c_contiguous:
            raise TypeError(
                f"{name}() takes a contiguous array of {dtype} with {argument.axes} axes, "
                f"got {array.dtype} with shape {array.shape}"
            )
        passed += [None, None, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides]

    return put


def where_from() -> dict[str, str]:
    """Operator -> "package", "cache" or "compiled", for all that were used so far."""
    return dict(_LOADED)
