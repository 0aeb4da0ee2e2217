"""Serialization of problems, policies and methods for the nodes of a cluster, on top of cloudpickle.

Compiled functions of the package (or of any module that the nodes can import) are sent by name and loaded from the
node's own cache; problems by name where the name says everything; functions and classes of a script by value; weights
and settings always by value. The path of a policy file therefore means the driver's file.
"""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from ray import cloudpickle

from deddqn._jit import is_jitted
from deddqn.problems import Problem, get
from deddqn.problems.bbob import BbobProblem

OWN = ("objective", "_call", "_noise")  # what a problem makes again where it arrives


class NotSerializableError(ValueError):
    """An object that cannot be sent to the nodes; the message says which and why."""


def pack(thing: Any, what: str) -> bytes:
    """`thing` for the nodes; an error that names it as `what` if it cannot be sent."""
    sink = io.BytesIO()
    try:
        _Packer(sink, protocol=pickle.HIGHEST_PROTOCOL).dump(thing)
    except Exception as error:
        raise NotSerializableError(
            f"{what} cannot be sent to the nodes of a cluster ({type(error).__name__}: {error}); run it on one machine"
        ) from error
    return sink.getvalue()


@lru_cache(maxsize=64)
def unpack(payload: bytes) -> Any:
    """What `pack` was given; equal payloads are unpacked once."""
    try:
        return pickle.loads(payload)
    except ImportError as error:
        raise NotSerializableError(f"what was sent needs a module that is not installed there: {error}") from error


class _Packer(cloudpickle.CloudPickler):  # type: ignore[misc]
    """Pickles by name what a node finds by name."""

    def reducer_override(self, thing: Any) -> Any:
        """How an object is made again on the node."""
        if isinstance(thing, Problem):
            return (get, (thing.name,)) if _found_by_name(thing) else _parts(thing)
        if is_jitted(thing) and _importable(thing):
            return _kernel, (thing.py_func.__module__, thing.py_func.__qualname__)
        return super().reducer_override(thing)


def _found_by_name(problem: Problem) -> bool:
    """Whether the registry has this very problem under its name."""
    try:
        made = get(problem.name)
    except (KeyError, ValueError):
        return False
    if type(made) is not type(problem) or made.noisy != problem.noisy:
        return False
    mine, theirs = problem.objective, made.objective
    return isinstance(made, BbobProblem) or (mine.kernel is theirs.kernel and np.array_equal(mine.data, theirs.data))


def _parts(problem: Problem) -> tuple[Callable[..., Problem], tuple[Any, ...]]:
    state = {name: value for name, value in vars(problem).items() if name not in OWN}
    python = problem.objective.python
    return _assembled, (type(problem), state, problem.objective if python is None else None, python and python.function)


def _assembled(kind: type[Problem], state: dict[str, Any], objective: Any, function: Any) -> Problem:
    problem = kind.__new__(kind)
    vars(problem).update(state)
    return problem.with_objective(objective or Problem.from_function(function, problem.bounds).objective)


def _importable(kernel: Any) -> bool:
    module = sys.modules.get(kernel.py_func.__module__)
    known = kernel.py_func.__module__ != "__main__" and module is not None
    return known and getattr(module, kernel.py_func.__qualname__, None) is kernel


def _kernel(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)
