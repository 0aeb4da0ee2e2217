"""What compiled code does that numba has no words for: records, calls by address, callbacks into Python.

Imported only where something is compiled. Everything here is generated LLVM code; its meaning in plain Python stands
beside each `Intrinsic` that is built from it.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.core.datamodel.registry import register_default
from numba.core.imputils import lower_getattr_generic
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from deddqn._jit.signatures import numba_signature
from deddqn._jit.structs import TABLE_WIDTH, Layout

_WORD = ir.IntType(64)
_ELEMENTS = {"float": types.float64, "int": types.int64, "word": types.uint64}


class RecordType(types.Type):
    """The numba type of a record."""

    def __init__(self, layout_name: str) -> None:
        self.layout_name = layout_name
        super().__init__(name=f"Record({layout_name})")


@register_default(RecordType)
class _RecordModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, _WORD)


@infer_getattr
class _RecordAttributes(AttributeTemplate):
    key = RecordType

    def generic_resolve(self, record: Any, name: str) -> Any:
        layout = Layout.registry[record.layout_name]
        if name not in layout.position:
            return None
        field = layout.fields[layout.position[name]]
        return types.Array(_ELEMENTS[field.kind], len(field.shape), "C")


@lower_getattr_generic(RecordType)
def _lower_attribute(context: Any, builder: Any, record: Any, address: Any, name: str) -> Any:
    """Build the array struct from the record's table: offset, rows, columns."""
    layout = Layout.registry[record.layout_name]
    position = layout.position[name]
    field = layout.fields[position]
    table = builder.inttoptr(address, _WORD.as_pointer())

    def entry(k: int) -> Any:
        return builder.load(builder.gep(table, [ir.Constant(_WORD, TABLE_WIDTH * position + k)]))

    array_type = types.Array(_ELEMENTS[field.kind], len(field.shape), "C")
    array = context.make_array(array_type)(context, builder)
    eight = ir.Constant(_WORD, 8)
    location = builder.add(address, builder.mul(entry(0), eight))
    data = builder.inttoptr(location, context.get_data_type(array_type.dtype).as_pointer())
    shape = [entry(1 + k) for k in range(len(field.shape))]
    strides = [builder.mul(shape[1], eight), eight] if len(shape) == 2 else [eight]
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=eight, meminfo=None)
    return array._getvalue()


def record_opener(layout_name: str) -> Any:
    """``at(address) -> record``: nothing happens, the type changes."""

    @intrinsic  # type: ignore[misc]
    def at(typing_context: Any, address: Any) -> Any:
        return RecordType(layout_name)(types.int64), lambda context, builder, signature, values: values[0]

    return at


def address_taker() -> Any:
    """``address(record)``: the inverse."""

    @intrinsic  # type: ignore[misc]
    def address(typing_context: Any, record: Any) -> Any:
        return types.int64(record), lambda context, builder, signature, values: values[0]

    return address


def caller_of(signature_text: str) -> Any:
    """``call(address, arguments)`` in numba's calling convention; an error of the called function is passed on."""
    signature = numba_signature(signature_text)

    @intrinsic  # type: ignore[misc]
    def call(typing_context: Any, address: Any, arguments: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            convention = context.call_conv
            function_type = convention.get_function_type(signature.return_type, signature.args)
            function = builder.inttoptr(values[0], function_type.as_pointer())
            passed = _cast(context, builder, values[1], arguments.types, signature.args)
            status, result = convention.call_function(builder, function, signature.return_type, signature.args, passed)
            with cgutils.if_unlikely(builder, status.is_error):
                convention.return_status_propagate(builder, status)
            return result

        return signature.return_type(types.int64, arguments), generate

    return call


def _cast(context: Any, builder: Any, values: Any, given: Any, wanted: Any) -> list[Any]:
    """The elements of a tuple as other types."""
    return [
        context.cast(builder, builder.extract_value(values, k), *pair)
        for k, pair in enumerate(zip(given, wanted, strict=True))
    ]


def guard(function: Any, signature: Any) -> Any:
    """``guarded(arguments)``: a compiled function whose error becomes Python's own before it leaves its frame.

    What a function compiled by the numba of this process raises can only be read by that numba; code that was built
    elsewhere sees no more than "Python's error indicator is set".
    """

    @intrinsic  # type: ignore[misc]
    def guarded(typing_context: Any, arguments: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
            compiled = function.get_compile_result(signature)
            context.active_code_library.add_linking_library(compiled.library)
            descriptor, convention = compiled.fndesc, context.call_conv
            callee = context.declare_function(builder.module, descriptor)
            passed = _cast(context, builder, values[0], arguments.types, descriptor.argtypes)
            status, result = convention.call_function(builder, callee, descriptor.restype, descriptor.argtypes, passed)
            with cgutils.if_unlikely(builder, status.is_error):
                api = context.get_python_api(builder)
                lock = api.gil_ensure()
                convention.raise_error(builder, api, status)
                api.gil_release(lock)
                convention.return_exc(builder)
            return context.cast(builder, result, descriptor.restype, signature.return_type)

        return signature.return_type(arguments), generate

    return guarded


def array_maker(element_name: str) -> Any:
    """``make(address, shape)``: an array without an owner."""
    element = getattr(types, element_name)
    width = ir.Constant(_WORD, element.bitwidth // 8)

    @intrinsic  # type: ignore[misc]
    def make(typing_context: Any, address: Any, shape: Any) -> Any:
        array_type = types.Array(element, len(shape), "C")

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            array = context.make_array(array_type)(context, builder)
            data = builder.inttoptr(values[0], context.get_data_type(element).as_pointer())
            axes = [context.cast(builder, axis, kind, types.int64) for axis, kind in _axes(builder, values[1], shape)]
            strides = [width]
            for axis in axes[:0:-1]:
                strides.insert(0, builder.mul(strides[0], axis))
            populate_array(array, data=data, shape=axes, strides=strides, itemsize=width, meminfo=None)
            return array._getvalue()

        return array_type(types.int64, shape), generate

    return make


def linked() -> Any:
    """``linked(links, k)``: a vector whose address and size stand in an array of integers."""

    @intrinsic  # type: ignore[misc]
    def by_link(typing_context: Any, links: Any, k: Any) -> Any:
        array_type = types.Array(types.float64, 1, "C")

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            numbers = context.make_array(signature.args[0])(context, builder, values[0]).data
            address, size = (
                builder.load(builder.gep(numbers, [builder.add(values[1], ir.Constant(_WORD, offset))]))
                for offset in (0, 1)
            )
            array, eight = context.make_array(array_type)(context, builder), ir.Constant(_WORD, 8)
            data = builder.inttoptr(address, ir.DoubleType().as_pointer())
            populate_array(array, data=data, shape=[size], strides=[eight], itemsize=eight, meminfo=None)
            return array._getvalue()

        return array_type(links, types.int64), generate

    return by_link


def _axes(builder: Any, shape: Any, kinds: Any) -> list[tuple[Any, Any]]:
    return [(builder.extract_value(shape, k), kind) for k, kind in enumerate(kinds)]


def counter() -> Any:
    """``count(address)``: an atomic increment."""

    @intrinsic  # type: ignore[misc]
    def count(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            integer = context.get_value_type(types.int64)
            location = builder.inttoptr(values[0], integer.as_pointer())
            return builder.atomic_rmw("add", location, integer(1), "monotonic")

        return types.int64(types.int64), generate

    return count


def part() -> Any:
    """``part(array, start)``: pointer arithmetic, where a slice would count references."""

    @intrinsic  # type: ignore[misc]
    def from_start(typing_context: Any, array: Any, start: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            first = values[0]
            if isinstance(signature.args[0], types.Array):
                first = context.make_array(signature.args[0])(context, builder, first).data
            return builder.gep(first, [values[1]])

        return types.CPointer(types.float64)(array, types.int64), generate

    return from_start


def python_caller() -> Any:
    """``call(address, point)``: ``float(callable(pointer))`` for the Python callable at `address`.

    Its exception becomes the kernel's. Any exception counts, also one that a signal raises on the way into the
    function (Ctrl-C), where a callback made by ctypes would print it and go on with whatever value lies on the stack.
    """

    @intrinsic  # type: ignore[misc]
    def call(typing_context: Any, address: Any, point: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            api = context.get_python_api(builder)
            array = context.make_array(signature.args[1])(context, builder, values[1])
            value = cgutils.alloca_once_value(builder, ir.Constant(ir.DoubleType(), 0.0))
            failed = cgutils.alloca_once_value(builder, cgutils.true_bit)
            lock = builder.call(_declare(builder, ir.IntType(32), "PyGILState_Ensure"), [])
            pointer = api.long_from_ssize_t(builder.ptrtoint(array.data, api.py_ssize_t))
            result = api.call_function_objargs(builder.inttoptr(values[0], api.pyobj), (pointer,))
            api.decref(pointer)
            with cgutils.if_likely(builder, cgutils.is_not_null(builder, result)):
                builder.store(api.float_as_double(result), value)
                api.decref(result)
                builder.store(cgutils.is_not_null(builder, api.err_occurred()), failed)
            builder.call(_declare(builder, ir.VoidType(), "PyGILState_Release", ir.IntType(32)), [lock])
            with cgutils.if_unlikely(builder, builder.load(failed)):
                context.call_conv.return_exc(builder)
            return builder.load(value)

        return types.float64(types.int64, point), generate

    return call


def _declare(builder: Any, returned: Any, name: str, *arguments: Any) -> Any:
    """A function of Python's C interface (numba has its own around these, which only its process has)."""
    return cgutils.get_or_insert_function(builder.module, ir.FunctionType(returned, arguments), name)
