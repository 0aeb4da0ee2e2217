"""Experiments as values: methods, problems, runs and budget. A plan yields jobs; a job's key hashes its content."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from deddqn._utils.plain_json import CHECKSUM, Exactly, check_checksum, checksum, parse_json
from deddqn._utils.validation import check_name, check_whole_number, choice_error, unknown_name
from deddqn.de.config import DEConfig
from deddqn.experiments.methods import PAPER_METHODS, MethodSpec, available, method_spec, problems_of
from deddqn.problems import Problem
from deddqn.problems.cec_competitions import COMPETITIONS, entry_of, official_budget

KEY_VERSION = 1  # of what a job's content means: a change of it invalidates all stored runs
Setting = str | int | float
Official = Literal["official"]
"""Runs or evaluations: as many as the competition of a problem prescribes."""

FORMAT = "deddqn-plan-1"
MOST_JOBS = 1_000_000
FORM = {
    "format?": Exactly(FORMAT),
    "methods": [str],
    "problems": [str],
    "runs": int,
    "budget": int,
    "seed": int,
    "fingerprints": [str],
    "de": [[(str, float)]],
    "preset": str,
    "missing": [str],
    "official?": bool,
    f"{CHECKSUM}?": str,
}
"""The form of ``plan.json``; plans of 0.1.0 have neither format nor checksum."""

PAPER_RUNS, PAPER_BUDGET = 25, 10_000  # Sect. 5.1


@dataclass(frozen=True)
class Job:
    """One run: everything that determines it, and nothing else."""

    method: str
    problem: str
    repeat: int
    budget: int
    settings: tuple[tuple[str, Setting], ...] = ()

    @property
    def key(self) -> str:
        """The content as a hash."""
        content = json.dumps([KEY_VERSION, *asdict(self).values()], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:24]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A comparison: `methods` x `problems` x `runs`, each run with `budget` evaluations.

    With `official`, every problem has the budget of its competition, and `budget` is the largest of them.
    `fingerprints` tell which version of a method is meant (see `MethodSpec`); `de` are the settings of the shared
    DE; `missing` are methods that the preset wants and this installation lacks.
    """

    methods: tuple[str, ...]
    problems: tuple[str, ...]
    runs: int = PAPER_RUNS
    budget: int = PAPER_BUDGET
    seed: int = 0
    fingerprints: tuple[str, ...] = ()
    de: tuple[tuple[str, Setting], ...] = ()
    preset: str = ""
    missing: tuple[str, ...] = ()
    official: bool = False

    def __post_init__(self) -> None:
        check_whole_number("runs", self.runs, 1)
        check_whole_number("seed", self.seed, 0)
        for name in self.methods:
            if self.methods.count(name) > 1:
                raise ValueError(f"methods must have different names, got {name!r} twice")
        if self.official and max(map(official_budget_of, self.problems)) != self.budget:
            raise ValueError(f"budget must be the largest official one of the problems, got {self.budget}")
        self.config  # noqa: B018  (checks budget and settings)

    @property
    def config(self) -> DEConfig:
        """How the shared DE searches."""
        return DEConfig(**{**dict(self.de), "budget": self.budget})  # type: ignore[arg-type]

    def budget_of(self, problem: str) -> int:
        """The evaluations that a run on a problem has."""
        return official_budget_of(problem) if self.official else self.budget

    @property
    def jobs(self) -> list[Job]:
        """All runs, method by method and problem by problem."""
        return [
            Job(
                method, problem, repeat, self.budget_of(problem), (*self.de, ("fingerprint", mark), ("seed", self.seed))
            )
            for method, mark in zip(self.methods, self.fingerprints, strict=True)
            for problem in self.problems
            for repeat in range(self.runs)
        ]

    def only(self, methods: Sequence[str]) -> Plan:
        """The plan of some of its methods, in their order here."""
        for name in methods:
            if name not in self.methods:
                raise choice_error("methods", name, self.methods)
        kept = [(m, mark) for m, mark in zip(self.methods, self.fingerprints, strict=True) if m in methods]
        return replace(self, methods=tuple(m for m, _ in kept), fingerprints=tuple(mark for _, mark in kept))

    def describe(self) -> str:
        """The plan in one line."""
        return (
            f"{_count(len(self.methods), 'method')} x {_count(len(self.problems), 'problem')} x "
            f"{_count(self.runs, 'run')} x {self._evaluations()} evaluations, seed {self.seed}"
        )

    def _evaluations(self) -> str:
        least = min(map(self.budget_of, self.problems), default=self.budget)
        return f"{self.budget}" if least == self.budget else f"{least} to {self.budget}"

    def command(self, folder: str) -> str:
        """The command line that runs this plan."""
        chosen = "--preset paper" if self.preset else f"--methods {' '.join(self.methods)}"
        size = dict(self.de).get("population_size")
        population = f"--population-size {size} " if size is not None else ""
        where = "" if self.preset else f" --problems {' '.join(self.problems)}"
        return (
            f"deddqn compare {chosen}{where} --runs {self.runs} "
            f"--budget {'official' if self.official else self.budget} --seed {self.seed} {population}--out {folder}"
        )

    def to_json(self) -> str:
        """As it is written into the folder of an experiment."""
        content: dict[str, Any] = json.loads(json.dumps({"format": FORMAT, **asdict(self)}))
        if not self.official:
            del content["official"]  # earlier versions do not know it
        return json.dumps({**content, CHECKSUM: checksum(content)}, indent=2)

    @classmethod
    def from_json(cls, text: str | bytes) -> Plan:
        """As it is read from there; ValueError for what is no plan."""
        content = parse_json(text, FORM, "the plan")
        if (stated := content.pop(CHECKSUM, None)) is not None or "format" in content:
            check_checksum(stated, checksum(content))
            content.pop("format", None)
        if len(content["fingerprints"]) != len(content["methods"]):
            raise ValueError("the plan must have one fingerprint per method")
        jobs = len(content["methods"]) * len(content["problems"]) * content["runs"]
        if not 0 < jobs <= MOST_JOBS:
            raise ValueError(f"the plan must have 1 to {MOST_JOBS:,} runs in all, got {jobs:,}")
        for name in (*content["methods"], *content["problems"], *content["missing"]):
            check_name("a name in the plan", name)
        tuples = {key: tuple(value) for key, value in content.items() if isinstance(value, list)}
        settings = tuple((str(key), value) for key, value in content["de"])
        return cls(**{**content, **tuples, "de": settings})

    def differences(self, other: Plan) -> list[str]:
        """In words, how `other` (the plan of a folder) differs from this one."""
        found = []
        for name in ("runs", "budget", "seed"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "budget" and (self.official or other.official):
                mine, theirs = ("official" if plan.official else plan.budget for plan in (self, other))
            if mine != theirs:
                found.append(f"{name}: {mine} wanted, {theirs} in the folder")
        for name in ("methods", "problems"):
            mine, theirs = getattr(self, name), getattr(other, name)
            extra, lacking = [x for x in mine if x not in theirs], [x for x in theirs if x not in mine]
            if extra or lacking:
                found.append(f"{name}: not in the folder {_words(extra)}; only in the folder {_words(lacking)}")
        theirs_by_name = dict(zip(other.methods, other.fingerprints, strict=True))
        for name, mark in zip(self.methods, self.fingerprints, strict=True):
            if theirs_by_name.get(name, mark) != mark:
                found.append(f"method {name}: its weights or settings have changed since")
        if dict(self.de) != dict(other.de):
            found.append(f"DE settings: {dict(self.de)} wanted, {dict(other.de)} in the folder")
        return found

    def extended(self, other: Plan) -> Plan:
        """This plan and `other` as one: all methods and problems of both, the larger number of runs."""
        refused = [d for d in self.differences(other) if not d.startswith(("methods:", "problems:", "runs:"))]
        if refused:
            raise ValueError(f"only methods, problems and runs can be added to an experiment; {'; '.join(refused)}")
        marks = {**dict(zip(other.methods, other.fingerprints, strict=True))}
        marks |= dict(zip(self.methods, self.fingerprints, strict=True))
        preset = self.preset if set(self.methods) >= set(other.methods) and self.preset == other.preset else ""
        return Plan(
            methods=tuple(marks),
            fingerprints=tuple(marks.values()),
            problems=tuple(dict.fromkeys((*other.problems, *self.problems))),
            runs=max(self.runs, other.runs),
            budget=max(self.budget, other.budget),  # the same, unless both are official
            seed=self.seed,
            de=self.de,
            preset=preset,
            missing=tuple(name for name in self.missing if name not in marks),
            official=self.official,
        )


@dataclass(frozen=True)
class Experiment:
    """A plan together with the objects that its names stand for."""

    plan: Plan
    methods: dict[str, MethodSpec] = field(repr=False)
    problems: dict[str, Problem] = field(repr=False)


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'' if n == 1 else 's'}"


def _words(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"


def official_budget_of(problem: str) -> int:
    """The evaluations that a problem's competition allows; ValueError where it belongs to none."""
    entry = entry_of(problem)
    if entry is None:
        raise ValueError(f"budget must be a number: {problem} belongs to no competition with an official one")
    return official_budget(entry[0], entry[2])


def _official_runs(problems: Iterable[str]) -> int:
    counts = {entry[0]: COMPETITIONS[entry[0]].runs for p in problems if (entry := entry_of(p)) is not None}
    if len(set(counts.values())) != 1:
        named = ", ".join(f"{family} {runs}" for family, runs in counts.items()) or "none of the problems has one"
        raise ValueError(f"runs must be a number unless all problems have the same official one: {named}")
    return next(iter(counts.values()))


def plan_experiment(
    methods: Iterable[Any],
    problems: Iterable[str | Problem],
    *,
    runs: int | Official = PAPER_RUNS,
    budget: int | Official = PAPER_BUDGET,
    seed: int = 0,
    de: dict[str, Setting] | None = None,
    missing: Sequence[str] = (),
) -> Experiment:
    """Check names and settings, and make the plan; `runs` and `budget` may be those of the problems' competition."""
    specs = [method_spec(method) for method in ([methods] if isinstance(methods, str) else methods)]
    if not specs:
        raise ValueError("methods must name at least one method, got none")
    found = problems_of(problems)
    plan = Plan(
        methods=tuple(spec.name for spec in specs),
        fingerprints=tuple(spec.fingerprint for spec in specs),
        problems=tuple(found),
        runs=_official_runs(found) if runs == "official" else runs,
        budget=max(map(official_budget_of, found)) if budget == "official" else budget,
        official=budget == "official",
        seed=seed,
        de=tuple(sorted((de or {}).items())),
        missing=tuple(missing),
    )
    for spec in specs:
        spec.check()
    return Experiment(plan, {spec.name: spec for spec in specs}, found)


PRESETS = ("paper",)


def preset(name: str, **changes: Any) -> Experiment:
    """A known experiment: ``paper`` is Sect. 5 with the methods that are available here."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    present, missing = available(PAPER_METHODS)
    made = plan_experiment(present, ["cec2005-test"], missing=missing, **changes)
    named = Plan(**{**made.plan.__dict__, "preset": name})
    return Experiment(named, made.methods, made.problems)
