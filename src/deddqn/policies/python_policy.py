"""Policies in Python: one made of a function, and any by the place where it is written, ``module:attribute``.

To load such a name runs the code of the module, so names that come from files (saved searches, plans) are never loaded.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import re
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np

from deddqn._utils.validation import check_name, suggestion
from deddqn.de.portfolio import Portfolio
from deddqn.policies.policy import PARTS, Policy, is_policy
from deddqn.policies.search_view import SearchView

_WORD = r"[^\W\d]\w*"
_NAME = re.compile(rf"(?P<module>.+\.py|{_WORD}(?:\.{_WORD})*):(?P<attribute>{_WORD})")


class FunctionPolicy:
    """A policy that is one function, ``function(features, search) -> operator``; it learns and draws nothing.

    Parameters
    ----------
    function : gets the state of Table 1 (empty unless `needs_features`) and a `SearchView`, and returns the number of
        an operator.
    name : that of the function by default.
    portfolio : the operators to choose from; any by default.
    """

    def __init__(
        self,
        function: Callable[[np.ndarray, SearchView], int],
        *,
        name: str | None = None,
        needs_features: bool = True,
        portfolio: Portfolio | None = None,
    ) -> None:
        self.function = function
        self.name = check_name("name", function.__name__ if name is None else name)
        self.needs_features = needs_features
        self.portfolio = portfolio

    def reset(self, n_ops: int, n_pop: int, rng: np.random.Generator) -> None:
        """See `Policy`."""

    def look(self, search: SearchView) -> None:
        """See `Policy`."""
        self._search = search

    def choose(self, features: np.ndarray, i: int) -> int:
        """See `Policy`."""
        return self.function(features, self._search)

    def learn(
        self, i: int, op: int, f_parent: float, f_trial: float, f_bsf: float, f_wsf: float, reward: float
    ) -> None:
        """See `Policy`."""

    def end_generation(self) -> None:
        """See `Policy`."""


def is_python_name(name: str) -> bool:
    """Whether a name has the form ``module:attribute`` or ``path.py:attribute``."""
    return _NAME.fullmatch(name) is not None


def load_python_policy(name: str) -> Policy:
    """The policy at ``module:attribute`` or ``path.py:attribute``: an object, or a class or function that makes one."""
    module, attribute = _module(name), _split(name)[1]
    try:
        found = getattr(module, attribute)
    except AttributeError:
        hint = suggestion(attribute, vars(module))
        raise ValueError(f"policy {name!r}: {_split(name)[0]} has no {attribute!r}; {hint}".rstrip("; ")) from None
    if isinstance(found, type) or (callable(found) and not is_policy(found)):
        try:
            found = found()
        except Exception as error:
            raise ValueError(f"policy {name!r}: making it raised {_reason(error)}") from error
    if not is_policy(found):
        lacking = ", ".join(part for part in PARTS if not hasattr(found, part))
        raise ValueError(f"policy {name!r} must be an object with the Policy methods, got {found!r} without {lacking}")
    check_name("name of the policy", found.name)
    return found


def named_source(name: str) -> bytes:
    """The file that ``module:attribute`` lies in: what it imports from elsewhere does not count."""
    path = getattr(_module(name), "__file__", None)
    return b"" if path is None else Path(path).read_bytes()


def own_source(policy: Policy) -> bytes:
    """The source of a policy's class, or of the function that it is made of; empty where Python does not know it."""
    try:
        return inspect.getsource(getattr(policy, "function", type(policy))).encode()
    except (OSError, TypeError):
        return b""


def _split(name: str) -> tuple[str, str]:
    match = _NAME.fullmatch(name)
    if match is None:
        raise ValueError(f"a policy in Python is named module:attribute or path.py:attribute, got {name!r}")
    return match["module"], match["attribute"]


def _module(name: str) -> ModuleType:
    place = _split(name)[0]
    if place.endswith(".py") and not Path(place).is_file():
        raise ValueError(f"policy {name!r}: there is no file {place}")
    try:
        return _from_file(Path(place)) if place.endswith(".py") else importlib.import_module(place)
    except Exception as error:
        hint = ""
        if isinstance(error, ModuleNotFoundError) and error.name and f"{place}.".startswith(f"{error.name}."):
            hint = f"; to name a file, write {place.replace('.', '/')}.py:{_split(name)[1]}"
        raise ValueError(f"policy {name!r}: importing {place} raised {_reason(error)}{hint}") from error


def _from_file(path: Path) -> ModuleType:
    """The module in a file, executed once per process."""
    title = f"_deddqn_policy_{path.stem}_{zlib.crc32(str(path.resolve()).encode()):08x}"
    if title in sys.modules:
        return sys.modules[title]
    spec = importlib.util.spec_from_file_location(title, path)
    assert spec is not None and spec.loader is not None  # the path ends in .py
    module = importlib.util.module_from_spec(spec)
    sys.modules[title] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[title]
        raise
    return module


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0]
