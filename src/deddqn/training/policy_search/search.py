"""Direct policy search: CMA-ES (Hansen 2016) over the weights of a softmax policy, with the rank score as its fitness.

A generation runs all of its policies on the same problems with the same seeds. The score of a run is the share of the
runs on its problem that end worse, among the reference runs and those of the whole generation; the score of a policy is
the mean over problems, so that no problem counts more because its errors are large.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.atomic import write_text
from deddqn._utils.plain_json import check_form
from deddqn._utils.reading import check_arrays, forms_of
from deddqn._utils.validation import check_whole_number
from deddqn._utils.versions import versions
from deddqn.evaluation import (
    HELD_OUT,
    evaluate_policies,
    evaluate_policy,
    rank_score,
    rank_scores,
    read_errors,
    reference_errors,
)
from deddqn.policies import CompiledPolicy, load_policy
from deddqn.policies.softmax import (
    INPUTS,
    N_INPUTS,
    choose,
    prescreening_gate_of,
    save_softmax,
    softmax_policy,
    weights_of,
)
from deddqn.problems import Problem, get, suite
from deddqn.training.checkpoint import check_same, damaged, load_checkpoint, prepare_folder, save_checkpoint
from deddqn.training.policy_search.cma_es import CMAES
from deddqn.training.policy_search.config import PolicySearchConfig
from deddqn.training.provenance import LIBRARIES, commit
from deddqn.training.training_log import TrainingLog

VALIDATION = HELD_OUT + 500_000_000
"""Repeats that decide which generation's mean is kept; neither searched on nor reported."""

FIRST_GATE = 3.0
"""Initial bias of the pre-screening gate: it is open in 95 of 100 decisions."""

_STATE = {"config": dict, "best_score": (float, None), "evaluations": int, "curve": [[float]], "log": int}
"""The form of the state of a checkpoint."""

_MAY_CHANGE = ("generations", "threads", "checkpoint_seconds", "max_seconds", "tensorboard")


class PolicySearch:
    """One policy search; all of its state is in `out`, from where it resumes.

    Parameters
    ----------
    config : all settings.
    out : the folder of log, checkpoint and policy.
    problems : training problems instead of those that `config` names, with its budget.
    resume : continue from the newest checkpoint in `out`, if it has one; without it such a folder is refused.
    """

    def __init__(
        self,
        config: PolicySearchConfig,
        out: str | Path,
        *,
        problems: Sequence[Problem] | None = None,
        resume: bool = False,
        quiet: bool = False,
    ) -> None:
        self.config, self.out = config, Path(out)
        self._lock, found = prepare_folder(self.out, resume=resume)
        try:
            named = [get(name) for name, _ in config.with_budgets] if config.problems else suite(config.suite)
            self.problems = list(problems) if problems is not None else named
            own = problems is None and config.problems
            self.budgets = [b for _, b in config.with_budgets] if own else [config.budget] * len(self.problems)
            self._begin(found, quiet)
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, found: bool, quiet: bool) -> None:
        """Build everything, and take what a checkpoint has if one was `found`."""
        config = self.config
        self.portfolio = config.operators()
        self.cma = CMAES(self._first_mean(), config.sigma, config.offspring, config.seed)
        self.first = self.cma.mean.copy()
        self.average, self.best = self.first, self.first
        self.best_score, self.evaluations = -np.inf, 0
        self.curve: list[list[float]] = []
        self.references = np.zeros((len(self.problems), 0))
        self.stopped = False
        position = self._resume() if found else 0
        evaluations = np.mean(self.budgets) * len(self._drawn())
        total = round(config.generations * config.offspring * config.repeats * evaluations)
        self.log = TrainingLog(self.out, total, position=position, tensorboard=config.tensorboard, quiet=quiet)
        self._started = self._saved_at = time.monotonic()

    def _first_mean(self) -> np.ndarray:
        """The initial mean of CMA-ES; `_policy_at` says what its coordinates are."""
        n_ops = len(self.portfolio)
        weights, prescreening_gate = np.zeros((n_ops, N_INPUTS)), None
        if self.config.start:
            weights, prescreening_gate = self._start()
        if prescreening_gate is None:
            prescreening_gate = np.zeros(N_INPUTS)
            prescreening_gate[0] = FIRST_GATE
        differences = (weights[1:] - weights[0]).ravel()
        return np.concatenate([differences, prescreening_gate]) if self.config.n_candidates > 1 else differences

    def _start(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Weights and pre-screening gate of the policy that the search starts from."""
        policy = load_policy(self.config.start)
        if not isinstance(policy, CompiledPolicy) or policy.kernels.choose is not choose or not policy.portfolio:
            raise ValueError(f"start must be a softmax policy, got {self.config.start!r}")
        if len(policy.portfolio) != len(self.portfolio):
            raise ValueError(f"start must have {len(self.portfolio)} operators, {self.config.start!r} has others")
        return weights_of(policy), prescreening_gate_of(policy)

    def _policy_at(self, point: np.ndarray) -> dict[str, Any]:
        """Weights (operators, inputs) and gate. Only differences of weights count: the first operator's are 0."""
        differences, prescreening_gate = np.split(point, [(len(self.portfolio) - 1) * N_INPUTS])
        weights = np.vstack([np.zeros(N_INPUTS), differences.reshape(-1, N_INPUTS)])
        return (
            {"weights": weights, "prescreening_gate": prescreening_gate}
            if prescreening_gate.size
            else {"weights": weights}
        )

    @property
    def _made_for(self) -> dict[str, Any]:
        widest = max(p.dimension for p in self.problems)
        return {
            "portfolio": self.portfolio,
            "max_dimension": widest,
            "de": self.config.de_config().own_settings(),
        }

    @property
    def _settings(self) -> dict[str, Any]:
        threads = self.config.threads or None
        return {
            "config": self.config.de_config(),
            "portfolio": self.portfolio,
            "seed": self.config.seed,
            "threads": threads,
        }

    def run(self) -> float:
        """Search until done, stopped or out of time; return the best validated rank score."""
        try:
            if not self.references.size:
                self.references = self._run_references()
            while not self.done and not self.out_of_time:
                self.generation()
                if self.cma.generation % self.config.evaluate_every == 0 or self.done:
                    self.validate()
                if self.done or self.out_of_time or time.monotonic() - self._saved_at > self.config.checkpoint_seconds:
                    self.save()
        finally:
            self.close()
        return self.best_score

    def stop(self) -> None:
        """End the training soon, with a checkpoint."""
        self.stopped = True

    def close(self) -> None:
        """Close the log and leave the folder to others; `run` does so at its end."""
        try:
            self.log.close()
        finally:
            self._lock.release()

    def _run_references(self) -> np.ndarray:
        """(problems, runs): the final errors that runs are ranked among."""
        if self.config.pool:
            return read_errors(self.config.pool, self.problems)
        return reference_errors(
            self.problems, budgets=self.budgets, repeats=self.config.reference_repeats, **self._settings
        )

    @property
    def done(self) -> bool:
        """True after the last generation."""
        return self.cma.generation >= self.config.generations

    @property
    def out_of_time(self) -> bool:
        """True when `stopped` was set, or `max_seconds` have passed."""
        return self.stopped or 0.0 < self.config.max_seconds < time.monotonic() - self._started

    def generation(self) -> None:
        """Run all policies of a generation, rank them, and update CMA-ES."""
        points = self.cma.ask()
        policies = [softmax_policy(**self._policy_at(point), **self._made_for) for point in points]
        first = self.cma.generation * self.config.repeats
        drawn = self._drawn()
        problems, references = [self.problems[k] for k in drawn], self.references[drawn]
        settings = {**self._settings, "budgets": [self.budgets[k] for k in drawn]}
        found = evaluate_policies(policies, problems, repeats=self.config.repeats, first=first, **settings)
        everything = np.concatenate([references, *(e.errors for e in found)], axis=1)
        scores = np.array([rank_score(e.errors, everything) for e in found])
        against_references = float(np.mean([rank_score(e.errors, references) for e in found]))
        self.cma.tell(points, -scores)
        share = 1.0 / min(self.cma.generation, self.config.mean_window)
        self.average = (1.0 - share) * self.average + share * self.cma.mean
        self.evaluations += sum(e.evaluations for e in found)
        values = {"generation": self.cma.generation, "rank_score": against_references, "sigma": self.cma.sigma}
        self.log.event("generation", self.evaluations, **values)
        self.log.progress(
            self.evaluations, self.cma.generation, f"rank score {against_references:.4f}  best {self.best_score:.4f}"
        )

    def _drawn(self) -> np.ndarray:
        """The numbers of the problems of this generation, in order."""
        everything = np.arange(len(self.problems))
        if not 0 < self.config.sample < len(everything):
            return everything
        rng = np.random.default_rng([self.config.seed, self.cma.generation, 1])
        return np.sort(rng.choice(everything, self.config.sample, replace=False))

    def validate(self) -> None:
        """Score the average of the means on other seeds; keep it if it is the best so far."""
        policy = softmax_policy(**self._policy_at(self.average), **self._made_for)
        repeats = self.config.evaluate_repeats
        settings = {**self._settings, "budgets": self.budgets}
        found = evaluate_policy(policy, self.problems, repeats=repeats, first=VALIDATION, **settings)
        score = rank_score(found.errors, self.references)
        self.curve.append([self.cma.generation, score])
        if score > self.best_score:
            self.best_score, self.best = score, self.average
        self.log.event("validation", self.evaluations, generation=self.cma.generation, rank_score=score)
        self._write_policy(rank_scores(found.errors, self.references))

    def _write_policy(self, scores: np.ndarray) -> None:
        provenance = {
            "trained_by": "CMA-ES on the rank score of final errors",
            "config": self.config.to_json(),
            "problems": [problem.name for problem in self.problems],
            "inputs": INPUTS,
            "first": _listed(self._policy_at(self.first)) if self.config.start else None,
            "commit": commit(),
            "versions": versions(LIBRARIES),
            "rank_score": self.best_score,
            "curve": self.curve,
        }
        path = self.out / "softmax.safetensors"
        save_softmax(path, **self._policy_at(self.best), provenance=provenance, **self._made_for)
        names = [problem.name for problem in self.problems]
        summary = {"rank_score": self.best_score, "curve": self.curve, **_listed(self._policy_at(self.best))}
        summary["last_scores"] = dict(zip(names, scores.tolist(), strict=True))
        write_text(self.out / "summary.json", json.dumps(summary, indent=1))

    def save(self) -> None:
        """Write a checkpoint."""
        arrays = {**self.cma.to_arrays(), "average": self.average, "best": self.best, "references": self.references}
        state: dict[str, Any] = {"config": self.config.to_json(), "best_score": self.best_score if self.curve else None}
        state |= {"evaluations": self.evaluations, "curve": self.curve, "log": self.log.flush()}
        save_checkpoint(self.out, self.cma.generation, arrays, state)
        self._saved_at = time.monotonic()

    def _resume(self) -> int:
        arrays, state = load_checkpoint(self.out)
        check_same(self.out, self.config.to_json(), state.get("config", {}), _MAY_CHANGE)
        with damaged(self.out):
            check_form(state, _STATE, "its state")
            kept = {name: arrays.pop(name, np.zeros(0)) for name in ("average", "best", "references")}
            self.cma.load_arrays(arrays)
            forms = forms_of({"average": self.average, "best": self.best})
            check_arrays(kept, {**forms, "references": ("f", (len(self.problems), kept["references"].shape[-1]))})
            self.average, self.best, self.references = kept["average"], kept["best"], kept["references"]
            for name in ("evaluations", "log"):
                check_whole_number(name, state[name], 0)
            self.best_score = -np.inf if state["best_score"] is None else float(state["best_score"])
            self.evaluations, self.curve = state["evaluations"], state["curve"]
        return int(state["log"])


def _listed(tensors: Mapping[str, np.ndarray]) -> dict[str, Any]:
    return {name: values.tolist() for name, values in tensors.items()}


def search_policy(config: PolicySearchConfig, out: str | Path, *, resume: bool = False) -> float:
    """Search into the folder `out`; with `resume` continue from its newest checkpoint, if it has one."""
    return PolicySearch(config, out, resume=resume).run()
