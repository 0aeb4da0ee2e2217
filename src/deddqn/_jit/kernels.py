"""Kernels: functions that run as machine code, and that numba sees only where something must be compiled.

``@kernel`` marks a function that compiled code calls. ``@kernel(signature)`` marks an *entry*: Python calls it, or the
loop calls it by address. Entries are compiled when the package is built, each with all that it calls; importing the
package and running them needs no compiler. Signatures are written as numba writes them, ``"int64(float64[::1])"``.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from functools import cached_property
from typing import Any, overload

from deddqn._jit.mode import PLAIN

Function = Callable[..., Any]

ENTRIES: dict[str, Kernel] = {}
"""Every entry that was imported, by its name."""


class Kernel:
    """A function that can be machine code.

    Parameters
    ----------
    function : what it does, in the part of Python that numba compiles.
    signature : types of an entry; None for what only kernels call.
    numeric : sums may be reordered and products fused (objectives, networks); NaN and infinity keep their meaning.
        Otherwise results are the same bits with and without a compiler.
    inline : becomes a part of its caller.
    """

    def __init__(self, function: Function, signature: str | None, numeric: bool, inline: bool) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.signature, self.numeric, self.inline = signature, numeric, inline
        self.name = f"{function.__module__}.{function.__qualname__}"
        if signature is not None:
            ENTRIES[self.name] = self

    @cached_property
    def dispatcher(self) -> Any:
        """What numba compiles into other kernels."""
        from deddqn._jit.compiler import dispatcher_of

        return dispatcher_of(self)

    @cached_property
    def _numba_type_(self) -> Any:
        """How numba recognises a kernel that another one calls."""
        return self.dispatcher._numba_type_

    @cached_property
    def call(self) -> Function:
        """The compiled function for a caller in Python."""
        if self.signature is None:
            from deddqn._jit.compiler import python_dispatcher_of

            return python_dispatcher_of(self)
        from deddqn._jit.machine_code import callable_of

        return callable_of(self)

    @cached_property
    def address(self) -> int:
        """Where the code of an entry begins, for kernels that call it by address."""
        from deddqn._jit.machine_code import address_of_entry

        return address_of_entry(self)

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled function."""
        return self.call(*arguments)

    def __repr__(self) -> str:
        return f"<kernel {self.name}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _kernel_named, (self.__module__, self.py_func.__qualname__)

    def __deepcopy__(self, memo: dict[int, Any]) -> Kernel:
        return self


def _kernel_named(module: str, name: str) -> Any:
    __import__(module)
    return functools.reduce(getattr, name.split("."), sys.modules[module])


@overload
def kernel(function: Function, /) -> Function: ...


@overload
def kernel(
    signature: str | None = None, /, *, numeric: bool = False, inline: bool = False
) -> Callable[[Function], Function]: ...


def kernel(function: Any = None, /, *, numeric: bool = False, inline: bool = False) -> Any:
    """Make a function a `Kernel`, with or without a signature; without a compiler it stays the function it is."""
    if callable(function):
        return function if PLAIN else Kernel(function, None, numeric, inline)
    signature = function
    if PLAIN:
        return lambda plain: plain
    return lambda written: Kernel(written, signature, numeric, inline)


class SharedKernel(Kernel):
    """A small function that both sides call: compiled code as machine code, Python as it is written."""

    @cached_property
    def call(self) -> Function:
        """The function itself."""
        return self.py_func


def shared(function: Function) -> Function:
    """Make a function a `SharedKernel`."""
    return function if PLAIN else SharedKernel(function, None, numeric=False, inline=False)


class Intrinsic:
    """A function of compiled code that is written in LLVM's terms (`deddqn._jit.lowering`).

    Parameters
    ----------
    build : makes the numba object; called when something is compiled.
    plain : does the same in Python.
    """

    def __init__(self, build: Callable[[], Any], plain: Function) -> None:
        self._build = build
        self.plain = plain

    @cached_property
    def _numba_type_(self) -> Any:
        from deddqn._jit.compiler import type_of_global

        self._built = self._build()
        return type_of_global(self._built)

    def __call__(self, *arguments: Any) -> Any:
        """Do it in Python."""
        return self.plain(*arguments)

    def __deepcopy__(self, memo: dict[int, Any]) -> Intrinsic:
        return self


def intrinsic(build: Callable[[], Any], plain: Function) -> Function:
    """An `Intrinsic`, or without a compiler its plain form."""
    return plain if PLAIN else Intrinsic(build, plain)
