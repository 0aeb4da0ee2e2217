"""From kernels to machine code, by numba and LLVM. Imported only where something must be compiled.

An entry is compiled with everything that it calls into one LLVM module with two functions: the entry itself under its
own name, in numba's calling convention ``status = entry(&result, &error, arguments...)``, and a twin that
releases Python's lock while it runs, for callers in Python. Nothing else of the module is visible.

numba translates; optimising and emitting is done here, once for a whole entry, and for a *level* of processors rather
than for one model. So code from the package and code compiled on this machine are the same, and so are results.
"""

from __future__ import annotations

import contextlib
import gc
import platform
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from deddqn._jit.kernels import Function, Kernel
from deddqn._jit.machine_code import UNLOCKED
from deddqn._jit.signatures import numba_signature

_OPTIONS: dict[str, Any] = {"error_model": "numpy", "no_cfunc_wrapper": True}
_NO_COUNTING = {"_nrt": False}  # kernels allocate nothing, so no references need to be counted
_NUMERIC = {"contract", "reassoc", "nsz", "arcp"}


def _options(kernel: Kernel) -> dict[str, Any]:
    options = _OPTIONS | _NO_COUNTING
    if kernel.numeric:
        options["fastmath"] = _NUMERIC
    if kernel.inline:
        options["forceinline"] = True
    return options


def dispatcher_of(kernel: Kernel) -> Any:
    """The kernel as numba compiles it into others; Python cannot call it, which compiles faster."""
    return numba.njit(no_cpython_wrapper=True, **_options(kernel))(kernel.py_func)


def python_dispatcher_of(kernel: Kernel) -> Any:
    """The kernel alone, for any types, to be called from Python."""
    return numba.njit(nogil=True, **_options(kernel))(kernel.py_func)


def type_of_global(value: Any) -> Any:
    """The numba type of something that kernels name."""
    context = cpu_target.typing_context
    context.refresh()
    return context.resolve_value_type(value)


class _Translated(JITCodeLibrary):
    """What numba makes of a kernel, linked with what it calls and otherwise as it is: neither optimised nor emitted."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True


@contextlib.contextmanager
def _translating() -> Iterator[None]:
    """Let numba make LLVM modules and nothing more.

    Garbage is not collected meanwhile: there are millions of objects and little garbage.
    """
    codegen = cpu_target.target_context.codegen()
    collecting = gc.isenabled()
    with global_compiler_lock:
        gc.disable()
        codegen._library_class = _Translated
        codegen.set_env = lambda *_: None
        try:
            yield
        finally:
            del codegen._library_class, codegen.set_env
            if collecting:
                gc.enable()


def module_of(kernel: Kernel) -> Any:
    """Translate an entry with all that it calls; return its LLVM module, not yet optimised."""
    assert kernel.signature is not None
    signature = numba_signature(kernel.signature)
    with _translating():
        kernel.dispatcher.compile(signature)
    compiled = kernel.dispatcher.get_compile_result(signature)
    if compiled.signature.return_type != signature.return_type:
        raise TypeError(f"{kernel} must return {signature.return_type}, it returns {compiled.signature.return_type}")
    module = llvm.parse_bitcode(compiled.library._final_module.as_bitcode())
    entry = module.get_function(compiled.fndesc.llvm_func_name)
    entry.name = kernel.name
    module.link_in(_twin(kernel.name, [str(argument.type) for argument in entry.arguments]))
    for thing in (*module.functions, *module.global_variables):
        if not thing.is_declaration and thing.name not in (kernel.name, kernel.name + UNLOCKED):
            thing.linkage = "internal"
    return module


def _twin(name: str, types: list[str]) -> Any:
    """A module with a function that calls entry `name` without Python's lock."""
    parameters = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(types))
    return llvm.parse_assembly(f"""
        declare i32 @"{name}"({", ".join(types)})
        declare ptr @PyEval_SaveThread()
        declare void @PyEval_RestoreThread(ptr)
        define i32 @"{name}{UNLOCKED}"({parameters}) {{
            %thread = call ptr @PyEval_SaveThread()
            %status = call i32 @"{name}"({parameters})
            call void @PyEval_RestoreThread(ptr %thread)
            ret i32 %status
        }}
    """)


def target_machine(level: str | None) -> Any:
    """What emits code for a level of processors, or for this one.

    On x86-64 the code model is the large one, as that of numba's own code: the loader takes memory for the code and for
    its constants one by one, and where gigabytes of other libraries lie between them (torch with CUDA), offsets of 32
    bits do not reach, for which LLVM aborts the process.
    """
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    cpu = level or llvm.get_host_cpu_name()
    features = "" if level else llvm.get_host_cpu_features().flatten()
    target = llvm.Target.from_triple(llvm.get_process_triple())
    large = platform.machine().lower() in ("x86_64", "amd64")
    reloc, model = ("static", "large") if large else ("pic", "default")
    return target.create_target_machine(cpu=cpu, features=features, opt=3, reloc=reloc, codemodel=model)


def optimise(module: Any, machine: Any) -> None:
    """Optimise a module for a machine, in place."""
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    options.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)


def object_of(kernel: Kernel, level: str | None) -> bytes:
    """Compile one entry for a level of processors; return the object file."""
    machine, module = target_machine(level), module_of(kernel)
    optimise(module, machine)
    return bytes(machine.emit_object(module))


def guarded_address_of(function: Function, signature_text: str) -> int:
    """The address of a function that a user compiled with numba; it is compiled once for every signature."""
    if not isinstance(function, numba.core.dispatcher.Dispatcher):
        raise TypeError(f"a compiled function is needed here (numba.njit), got {function!r}")
    known: dict[str, tuple[int, Any]] = function.__dict__.setdefault("_deddqn_addresses", {})
    if signature_text not in known:
        known[signature_text] = _compile_guarded(function, signature_text)
    return known[signature_text][0]


def _compile_guarded(function: Any, signature_text: str) -> tuple[int, Any]:
    from deddqn._jit import lowering

    signature = numba_signature(signature_text)
    try:
        function.compile(signature.args)
    except numba.core.errors.NumbaError as error:
        raise ValueError(f"a jitted function cannot be compiled as {signature_text}: {_reason(error)}") from error
    names = ", ".join(f"a{k}" for k in range(len(signature.args)))
    scope = {"guarded": lowering.guard(function, signature)}
    exec(
        f"def outer({names}): return guarded(({names},))", scope
    )  # compiled functions have a fixed number of arguments
    outer = numba.njit(no_cpython_wrapper=True, **_OPTIONS)(scope["outer"])
    outer.compile(signature)
    compiled = outer.get_compile_result(signature)
    return int(compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)), outer


def _reason(error: Exception) -> str:
    """What numba complains about: the first line of its message that says more than where it was."""
    lines = [line.strip() for line in str(error).splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in nopython", "During:", "File "))]
    return told[0] if told else type(error).__name__


def objective_adapter(function: Any) -> Any:
    """A jitted function of a point, in the form that the loop calls."""
    point = numba.types.Array(numba.types.float64, 1, "C")
    try:
        function.compile((point,))
    except (numba.core.errors.NumbaError, TypeError) as error:
        raise ValueError(f"fun cannot be compiled for a point x of shape (D,): {_reason(error)}") from error
    returned = function.overloads[(point,)].signature.return_type
    if not isinstance(returned, numba.types.Float | numba.types.Integer | numba.types.Boolean):
        raise ValueError(f"fun must return one number, a jitted one that returns {returned} does not")

    @numba.njit(**_OPTIONS)
    def objective(x, data, work, gauss):  # type: ignore[no-untyped-def]
        return np.float64(function(x.copy()))  # what it does to its point must not change the search

    return objective
