"""Hyper-parameters of the adaptive policies, by optuna (TPE, Bergstra et al. 2011) on the training functions only.

A trial is scored on the repeats 0, 1, .. by its rank score (`deddqn.evaluation`) among runs of `random` and of the
adaptive policies with their published defaults; higher is better, and the study maximises it. The best few trials and
the defaults then run on fresh repeats, where luck of the first ones does not help, and the best of them is kept. Its
score and that of the defaults are measured once more on repeats that nothing was chosen on. The study lies in an SQLite
file that holds finished trials only. A tuning that was interrupted replays them, so that the sampler is where it was,
and ends with the values of one that was not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import deddqn
from deddqn._utils.atomic import remove_leftovers, write_text
from deddqn._utils.disk_errors import CannotWriteError, clear_errors
from deddqn._utils.lock import FolderLock
from deddqn._utils.optional_imports import need
from deddqn._utils.validation import check_whole_number, unknown_name
from deddqn._utils.versions import installed
from deddqn.de.config import DEConfig
from deddqn.evaluation import TRAINING_SUITE, evaluate_policy, rank_fractions, rank_score, standard_error
from deddqn.policies import Policy, load_policy
from deddqn.policies.adaptive import ADAPTIVE, default_parameters
from deddqn.problems import SUITES, get

REFERENCES = ("random", "pm-adapss:default", "f-auc:default", "rec-pm:default")
"""The policies that trials are ranked among."""

FINALISTS = 4
FINAL_REPEATS, CHECK_REPEATS = 10_000, 20_000  # first repeats of the final and of the check
FINAL_FACTOR = 3  # runs per problem there, as a multiple of those of a trial
LIBRARIES = ("numba", "numpy", "optuna")


@dataclass(frozen=True)
class Range:
    """Where a parameter may lie."""

    low: float
    high: float
    log: bool = False
    integer: bool = False


SPACES: dict[str, dict[str, Range]] = {
    "pm-adapss": {
        "window": Range(5, 500, log=True, integer=True),
        "alpha": Range(0.01, 1.0),
        "p_min": Range(0.0, 0.24),
    },
    "f-auc": {
        "window": Range(5, 500, log=True, integer=True),
        "decay": Range(0.0, 1.0),
        "scale": Range(0.01, 10.0, log=True),
    },
    "rec-pm": {"gamma": Range(0.0, 0.99), "p_min": Range(0.0, 0.24)},
}
"""What is searched, per method; four operators leave room for p_min below 1/4."""


class RemoteEvaluator(Protocol):
    """Makes the runs of a tuning on other machines."""

    @property
    def where(self) -> str:
        """Nodes and cores in words."""

    def __call__(self, protocol: TuningProtocol, policy: Policy) -> np.ndarray:
        """The final errors (problems, runs) of a policy."""


@dataclass(frozen=True, kw_only=True)
class TuningProtocol:
    """The runs that parameters are scored by.

    Parameters
    ----------
    problems : names, by default the training suite.
    runs : runs per problem.
    budget : evaluations per run.
    seed : root of the random streams.
    first : number of the first repeat; other repeats are fresh runs.
    threads : threads of the runs; all cores by default.
    remote : what makes the runs instead, on a cluster.
    """

    problems: tuple[str, ...] = SUITES[TRAINING_SUITE]
    runs: int = 5
    budget: int = 10_000
    seed: int = 0
    first: int = 0
    threads: int | None = None
    remote: RemoteEvaluator | None = None

    @property
    def evaluations(self) -> int:
        """Of all its runs together."""
        return len(self.problems) * self.runs * self.budget

    def errors(self, policy: str | Policy) -> np.ndarray:
        """The final errors (problems, runs) of a policy."""
        chosen = load_policy(policy)
        if self.remote is not None:
            return self.remote(self, chosen)
        problems = [get(name) for name in self.problems]
        settings: dict[str, Any] = {"seed": self.seed, "config": DEConfig(budget=self.budget), "threads": self.threads}
        return evaluate_policy(chosen, problems, repeats=self.runs, first=self.first, **settings).errors

    def reference_errors(self) -> np.ndarray:
        """The final errors (problems, reference runs) of the reference policies."""
        return np.concatenate([self.errors(name) for name in REFERENCES], axis=1)


@dataclass(frozen=True, kw_only=True)
class Tuning:
    """A search for the parameters of one method; the same values resume the same study."""

    method: str
    trials: int = 100
    runs: int = 5
    budget: int = 10_000
    seed: int = 0
    out: Path = Path("out/tune")
    workers: int | None = None
    remote: RemoteEvaluator | None = None

    def __post_init__(self) -> None:
        if self.method not in SPACES:
            raise unknown_name("tunable method", self.method, SPACES)
        for name, least in (("trials", 1), ("runs", 1), ("budget", 1), ("seed", 0)):
            check_whole_number(name, getattr(self, name), least)

    @property
    def settings(self) -> dict[str, Any]:
        """What must not change within a study."""
        space = {key: asdict(value) for key, value in SPACES[self.method].items()}
        return {"suite": TRAINING_SUITE, "runs": self.runs, "budget": self.budget, "seed": self.seed, "space": space}

    @property
    def command(self) -> str:
        """The command that finds the same again."""
        return (
            f"deddqn tune {self.method} --trials {self.trials} --runs {self.runs} "
            f"--budget {self.budget} --seed {self.seed}"
        )

    @property
    def protocol(self) -> TuningProtocol:
        """The runs of a trial."""
        return TuningProtocol(
            runs=self.runs, budget=self.budget, seed=self.seed, threads=self.workers, remote=self.remote
        )

    def locked(self) -> FolderLock:
        """Sole use of this method's study in the folder, which is made; what a killed tuning left behind is deleted."""
        self.out.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(self.out, f".{self.method}.lock")
        remove_leftovers(self.out, f"{self.method}.json")
        return lock

    def fresh(self, first: int) -> TuningProtocol:
        """Runs that no trial has seen."""
        return replace(self.protocol, runs=FINAL_FACTOR * self.runs, first=first)


@contextmanager
def clear_storage_errors(tuning: Tuning) -> Iterator[None]:
    """Turn what a disk or the database in the body says into one line of advice."""
    optuna = need("optuna", "tuning", "baselines")
    from sqlalchemy.exc import SQLAlchemyError

    try:
        with clear_errors(f"write in {tuning.out}"):
            yield
    except (SQLAlchemyError, optuna.exceptions.StorageInternalError) as error:
        reason = str(getattr(error.__cause__ or error, "orig", error)).splitlines()[0]
        advice = "what was stored before is intact: free some space or mend the folder, and run the command again"
        raise CannotWriteError(f"cannot write in {tuning.out}: {reason}; {advice}") from error


def open_study(tuning: Tuning) -> Any:
    """The study of a tuning, with what was done before; ValueError if that was done with other settings.

    For the holder of the tuning's lock.
    """
    optuna = need("optuna", "tuning", "baselines")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    tuning.out.mkdir(parents=True, exist_ok=True)
    study = optuna.create_study(
        study_name=tuning.method,
        storage=f"sqlite:///{tuning.out / tuning.method}.db",
        load_if_exists=True,
        direction="maximize",
    )
    before = study.user_attrs.get("settings")
    if before is None:
        study.set_user_attr("settings", tuning.settings)
    elif before != tuning.settings:
        changed = [
            f"{key} {before.get(key)} -> {value}" for key, value in tuning.settings.items() if before.get(key) != value
        ]
        raise ValueError(
            f"out must be a new folder for other settings, {tuning.out} holds a study with: {', '.join(changed)}"
        )
    for trial in study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.RUNNING,)):  # of earlier versions
        study.tell(trial.number, state=optuna.trial.TrialState.FAIL)
    return study


def finished(study: Any) -> list[Any]:
    """The trials with a score, the best first."""
    return sorted((trial for trial in study.trials if trial.value is not None), key=lambda trial: -trial.value)


def _suggest(trial: Any, key: str, where: Range) -> float | int:
    if where.integer:
        return int(trial.suggest_int(key, int(where.low), int(where.high), log=where.log))
    return float(trial.suggest_float(key, where.low, where.high, log=where.log))


class _Sampler:
    """Where the next trial is: a study in memory that has seen the finished trials of the stored one in order."""

    def __init__(self, tuning: Tuning, stored: Sequence[Any]) -> None:
        optuna = need("optuna", "tuning", "baselines")
        sampler = optuna.samplers.TPESampler(seed=tuning.seed + 1, multivariate=True)
        self._study = optuna.create_study(sampler=sampler, direction="maximize")
        self._study.enqueue_trial(default_parameters(tuning.method))
        self._space = SPACES[tuning.method]
        for trial in stored:
            asked, parameters = self.ask()
            if parameters == trial.params:
                self._study.tell(asked, trial.value)
            else:  # of another version of the sampler, or added by hand
                self._study.tell(asked, state=optuna.trial.TrialState.FAIL)
                self._study.add_trial(trial)

    def ask(self) -> tuple[Any, dict[str, Any]]:
        """The next trial and its parameters."""
        trial = self._study.ask()
        return trial, {key: _suggest(trial, key, where) for key, where in self._space.items()}

    def tell(self, trial: Any, value: float) -> Any:
        """Enter the score of a trial; return it as it is stored."""
        return self._study.tell(trial, value)


def search(tuning: Tuning, study: Any) -> Iterator[tuple[str, float]]:
    """Make the trials that are missing; yield what was done and the best score so far."""
    make = ADAPTIVE[tuning.method]
    done = sorted(finished(study), key=lambda trial: trial.number)
    if len(done) >= tuning.trials:
        return
    sampler = _Sampler(tuning, done)
    references = tuning.protocol.reference_errors()
    for number in range(len(done) + 1, tuning.trials + 1):
        trial, parameters = sampler.ask()
        score = rank_score(tuning.protocol.errors(make(**parameters)), references)
        study.add_trial(sampler.tell(trial, score))
        yield f"trial {number} of {tuning.trials}", study.best_value


def _rounded(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters with three digits: what is printed is what is used."""
    return {key: value if isinstance(value, int) else float(f"{value:.3g}") for key, value in parameters.items()}


def decide(tuning: Tuning, study: Any) -> dict[str, Any]:
    """Compare the best trials and the defaults on fresh runs; return the record of the best."""
    make, defaults = ADAPTIVE[tuning.method], default_parameters(tuning.method)
    candidates = [defaults]
    for trial in finished(study):
        if (parameters := _rounded(trial.params)) not in candidates and len(candidates) <= FINALISTS:
            candidates.append(parameters)
    final = tuning.fresh(FINAL_REPEATS)
    references = final.reference_errors()
    scores = [rank_score(final.errors(make(**parameters)), references) for parameters in candidates]
    winner = candidates[scores.index(max(scores))]
    check = tuning.fresh(CHECK_REPEATS)
    references = check.reference_errors()
    measured = {
        name: rank_fractions(check.errors(policy), references)
        for name, policy in (("tuned", make(**winner)), ("default", make(**defaults)), ("random", "random"))
    }
    return {
        "parameters": winner,
        "default_parameters": defaults,
        "score": {name: round(float(rows.mean()), 5) for name, rows in measured.items()},
        "standard_error": {name: round(standard_error(rows), 5) for name, rows in measured.items()},
        "score_means": "rank score among runs of random and the published defaults; higher is better",
        "check_runs": f"{check.runs} runs per problem that nothing was chosen on",
        "trials": len(finished(study)),
        "command": tuning.command,
        **{key: value for key, value in tuning.settings.items() if key != "space"},
        "versions": _versions(),
    }


def _versions() -> dict[str, str]:
    return {"deddqn": deddqn.__version__, **installed(LIBRARIES)}


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a file whole or not at all."""
    write_text(path, json.dumps(content, indent=2) + "\n")
