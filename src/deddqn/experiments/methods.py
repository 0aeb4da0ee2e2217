"""The methods of a comparison: a name or an object becomes a `MethodSpec`, a problem name or suite becomes problems.

Policies run on the shared DE, vectorized where they are compiled; everything else is a method with
``run(problem, budget, rng)``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from deddqn._utils.validation import UnknownNameError, check_name, unknown_name
from deddqn.baselines import Method, baseline_names, check_installed, load_baseline
from deddqn.baselines.baseline_registry import LIBRARIES
from deddqn.de.portfolio import PAPER
from deddqn.features import PAPER_STATE
from deddqn.policies import CompiledPolicy, load_policy, load_python_policy, policy_names
from deddqn.policies.policy import is_policy, is_python_policy
from deddqn.policies.python_policy import is_python_name, named_source, own_source
from deddqn.problems import SUITES, Problem, get, problem_names

PAPER_METHODS = (
    "random",
    "de1",
    "de2",
    "de3",
    "de4",
    "pm-adapss",
    "f-auc",
    "rec-pm",
    "lr-cmaes",
    "ipop-cmaes",
    "ddqn-r1",
    "ddqn-r2",
    "ddqn-r3",
)
"""The thirteen columns of the paper's Table 3, in its order."""


@dataclass(frozen=True)
class MethodSpec:
    """One method of a comparison, ready to run.

    `fingerprint` changes when what the method does changes (weights, settings, the source of a policy in Python): it is
    part of a job's key.
    `by_name` methods can be made again in another process.
    """

    name: str
    implementation: Any  # a Policy or a Method
    fingerprint: str
    by_name: bool

    @property
    def is_compiled(self) -> bool:
        """Whether its runs need no Python: it is a compiled policy of the shared DE."""
        return isinstance(self.implementation, CompiledPolicy)

    def check(self) -> None:
        """Raise if it cannot run at all: too few operators to choose from, a library that is not installed."""
        if isinstance(self.implementation, CompiledPolicy):
            self.implementation.check_portfolio(self.implementation.portfolio or PAPER)
        elif self.by_name and not is_python_policy(self.implementation):
            check_installed(self.name)


def method_names() -> list[str]:
    """Every name that a comparison knows."""
    return [*policy_names(), *baseline_names()]


def available(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Split names into those that can be run here and those that cannot."""
    known = {name for name in method_names() if name not in LIBRARIES or find_spec(LIBRARIES[name]) is not None}
    return [name for name in names if name in known], [name for name in names if name not in known]


def method_spec(method: Any) -> MethodSpec:
    """The spec of a name, a policy file, ``module:policy``, a policy or an object with ``name`` and ``run``."""
    if isinstance(method, str):
        return _by_name(check_name("name of a method", method))
    if isinstance(method, type):
        raise ValueError(f"a method must be an object, not a class: give {method.__name__}(), got {method!r}")
    if is_policy(method) or isinstance(method, Method):
        name = check_name("name of a method", method.name)
        if isinstance(method, CompiledPolicy):
            mark = policy_fingerprint(method)
        else:
            mark = method_fingerprint(method, own_source(method) if is_policy(method) else b"")
        return MethodSpec(name, method, mark, by_name=False)
    raise ValueError(f"a method must be a name, a policy, or an object with 'name' and 'run', got {method!r}")


@lru_cache(maxsize=256)
def _by_name(name: str) -> MethodSpec:
    if name in baseline_names():
        baseline = load_baseline(name)
        return MethodSpec(name, baseline, method_fingerprint(baseline), by_name=True)
    try:
        policy = load_policy(name)
    except UnknownNameError:
        if not is_python_name(name):
            raise unknown_name("method", name, [*method_names(), "module:policy", "path.py:policy"]) from None
        return _in_python(name)
    assert isinstance(policy, CompiledPolicy)  # as all that are found by name or in files
    return MethodSpec(name, policy, policy_fingerprint(policy), by_name=True)


def _in_python(name: str) -> MethodSpec:
    policy, source = load_python_policy(name), named_source(name)
    if isinstance(policy, CompiledPolicy):
        return MethodSpec(name, policy, policy_fingerprint(policy, source), by_name=True)
    return MethodSpec(name, policy, method_fingerprint(policy, source), by_name=True)


def policy_fingerprint(policy: CompiledPolicy, source: bytes = b"") -> str:
    """The hash of a policy's constants (weights, probabilities, parameters), own operators, settings, state, source."""
    state = f"{policy.state} {policy.max_dimension}" if policy.state != PAPER_STATE else ""
    return _digest(policy.setup.tobytes() + _own_search(policy) + state.encode() + source)


def _own_search(policy: Any) -> bytes:
    """The operators and settings of DE that a policy brings along."""
    portfolio, de = getattr(policy, "portfolio", None), getattr(policy, "de", None)
    own = repr(portfolio.values) if portfolio not in (None, PAPER) else ""
    return (own + (repr(sorted(de.items())) if de else "")).encode()


def method_fingerprint(method: Any, source: bytes = b"") -> str:
    """The hash of a method's public settings: its dataclass fields, or its plain attributes; and of its source."""
    if dataclasses.is_dataclass(method) and not isinstance(method, type):
        settings = {field.name: getattr(method, field.name) for field in dataclasses.fields(method)}
    else:
        settings = {key: value for key, value in vars(method).items() if not key.startswith("_")}
    plain = {key: value for key, value in settings.items() if isinstance(value, str | int | float | bool | tuple)}
    return _digest(repr(sorted(plain.items())).encode() + (_own_search(method) if is_policy(method) else b"") + source)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:12]


def problems_of(problems: str | Problem | Iterable[str | Problem]) -> dict[str, Problem]:
    """Problems by name, from names, names of suites, and problems themselves; each once, in this order."""
    found: dict[str, Problem] = {}
    for given in (problems,) if isinstance(problems, str | Problem) else problems:
        if isinstance(given, Problem):
            if given.name in found and found[given.name] is not given:
                raise ValueError(f"problems must have different names, got {given.name!r} twice")
            found[given.name] = given
            continue
        for name in SUITES.get(given, (given,)):
            problem = named_problem(name)
            found.setdefault(problem.name, problem)
    if not found:
        raise ValueError("problems must name at least one problem, got none")
    return found


@lru_cache(maxsize=256)
def named_problem(name: str) -> Problem:
    """A problem by its name; the error for an unknown one also thinks of suites."""
    try:
        return get(name)
    except UnknownNameError as error:
        near = unknown_name("problem", name, [*SUITES, *problem_names()])
        hint = str(near).partition("Known:")[0]
        raise UnknownNameError(
            f"{hint}Suites: {', '.join(SUITES)}" if "did you mean" in hint else f"{error}; suites: {', '.join(SUITES)}"
        ) from None


def is_picklable(thing: Any) -> bool:
    """Whether an object can be sent to a worker process, which does not import the main module."""
    try:
        packed = pickle.dumps(thing)
        pickle.loads(packed)
    except Exception:
        return False
    return b"__main__" not in packed
