"""Runs with the options of `minimize`, by ask and tell, saved half-way, and with policies of one's own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import deddqn
from deddqn import Optimizer, minimize
from deddqn.policies import schedule_policy
from tests.digests import names
from tests.digests.case import EXACT, MACHINE, MATH, Case, facts
from tests.digests.functions import box, holes, jitted, many, plain

EXTENDED = names.PORTFOLIOS["extended"]
SMALL: dict[str, Any] = {"maxfun": 260, "rng": 5, "history": True}
CMA = [("cma", 1.0, 1.0)]
MIXED = [("cma", 1.0, 1.0), ("rand/1", 0.5, 0.9), ("cma", 0.7, 0.5, "F+CR"), ("curr-to-best/1", 0.6, 0.4, "CR")]


class Learner:
    """A policy in Python that draws, reads the state, learns and follows individuals."""

    name = "learner"
    needs_features = True

    def reset(self, n_ops, n_pop, rng):
        """Begin with equal credit."""
        self.rng, self.credit, self.seen = rng, [1.0] * n_ops, 0.0

    def choose(self, features, i):
        """By credit; every feature counts in the order of the table."""
        for value in features.tolist():
            self.seen = 0.5 * self.seen + value
        left, op = self.rng.random() * sum(self.credit), 0
        while op < len(self.credit) - 1 and left >= self.credit[op]:
            left -= self.credit[op]
            op += 1
        return op

    def learn(self, i, op, f_parent, f_trial, f_bsf, f_wsf, reward):
        """What pays gets credit."""
        self.credit[op] += 0.1 * reward + 0.01 * self.seen + 0.001 * i

    def end_generation(self):
        """Forget a little."""
        self.credit = [0.9 * value for value in self.credit]

    def renumber(self, origin):
        """Old individuals that moved give credit to the first."""
        self.credit[0] += 0.01 * int((origin != np.arange(origin.size)).sum())


def run(dimension: int = 4, function: Any = plain, **options: Any) -> dict[str, Any]:
    """One call of `minimize`; where nothing else is said, with the policy that was its default when these began."""
    began_with = {} if "portfolio" in options or "noisy" in options else {"policy": names.policy("softmax-x")}
    return facts(minimize(function, box(dimension), **{**SMALL, **began_with, **options}))


def run_learner(**options: Any) -> dict[str, Any]:
    """With a policy that is new in every run."""
    return run(policy=Learner(), **options)


def by_ask_and_tell(**options: Any) -> dict[str, Any]:
    """From outside: point by point, or a generation in parts and backwards."""
    optimizer = Optimizer(box(4), **{**SMALL, **options})
    asked = []
    while not optimizer.stop():
        points = optimizer.ask(9)[::-1]
        asked.append(points)
        for part in np.array_split(points, min(3, len(points))):
            optimizer.tell(part, [plain(x) for x in part])
    return {"asked": asked, **facts(optimizer.result)}


def saved_half_way(**options: Any) -> dict[str, Any]:
    """Interrupted, saved, loaded and continued."""
    optimizer = Optimizer(box(4), **{**SMALL, **options})
    optimizer.optimize(plain, callback=lambda intermediate_result: intermediate_result.nfev > 120)
    half = facts(optimizer.result)
    with tempfile.TemporaryDirectory() as folder:
        optimizer.save(Path(folder) / "half")
        loaded = Optimizer.load(Path(folder) / "half")
    return {"half": half, "whole": facts(loaded.optimize(plain))}


def cases() -> Iterator[Case]:
    """All of them."""
    for name, group, options in _options():
        yield Case(f"option/{name}", group, partial(run, **options), group != MACHINE and "function" not in options)
    for updating in ("sequential", "deferred"):
        for label in ("random", "softmax-x"):
            group, given = EXACT if label == "random" else MATH, {"policy": names.policy(label), "updating": updating}
            given |= {"population_size": 14} if label == "random" else {}
            yield Case(f"ask-tell/{label}/{updating}", group, partial(by_ask_and_tell, **given), True)
            yield Case(f"saved/{label}/{updating}", group, partial(saved_half_way, **given), True)
        changing = {"updating": updating, "population_size": 14, "final_population": 7, "restart_tolerance": 0.4}
        yield Case(f"python-policy/paper/{updating}", EXACT, partial(run_learner, **changing), True)
        changing["portfolio"] = EXTENDED
        yield Case(f"python-policy/extended/{updating}", MATH, partial(run_learner, **changing), True)


def _options() -> Iterator[tuple[str, str, dict[str, Any]]]:
    yield "default", MATH, {}
    yield "cma-es", MATH, {"policy": "softmax-budget", "cma_share": 0.3, "maxfun": 700}
    long = {"function": jitted, "policy": "softmax-budget", "maxfun": 30_000, "history": False}
    yield "cma-es/long", MATH, {**long, "cma_share": 0.1}
    yield "default/long", MATH, {"function": jitted, "dimension": 10, "maxfun": 4000, "history": False}
    wide = {"function": jitted, "dimension": 3, "maxfun": 9100, "history": False}
    yield "default/cma-es-considered", MATH, wide
    fixed = {"policy": "random", "population_size": 16}
    often = {"function": jitted, "dimension": 2, "maxfun": 2500}
    yield "restarts/random", EXACT, {**fixed, **often, "restart_tolerance": 0.1, "restart_final_fraction": 0.2}
    yield "restarts/softmax-x", MATH, often
    for updating in ("sequential", "deferred"):
        yield f"cma/{updating}", MATH, {"portfolio": CMA, "updating": updating, "population_size": 12}
        yield f"cma-mixed/{updating}", MATH, {"portfolio": MIXED, "updating": updating, "population_size": 12}
        long = {"updating": updating, "function": jitted, "dimension": 10, "maxfun": 1500, "final_population": 8}
        yield f"cma-mixed-long/{updating}", MATH, {"portfolio": MIXED, "population_size": 30, **long}
        yield f"holes/{updating}", EXACT, {"function": holes, "updating": updating, **fixed}
        yield f"holes-extended/{updating}", MATH, {"function": holes, "updating": updating}
        for repair in ("clip", "reflect", "midpoint"):
            wild = {"scale": 1.3, "repair": repair, "updating": updating}
            yield f"repair/{repair}/{updating}", EXACT, {**fixed, **wild}
            yield f"repair/{repair}/extended/{updating}", MATH, {"repair": repair, "updating": updating}
        for count in (1, 3, 5):
            yield f"candidates/{count}/{updating}", MATH, {names.CANDIDATES: count, "updating": updating}
    yield from _faces(fixed)


def _faces(fixed: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Ways to evaluate, to begin and to stop."""
    for label, group, given in (("random", EXACT, fixed), ("softmax-x", MATH, {})):
        yield f"workers/2/{label}", group, {"workers": 2, "function": plain, **given}
        yield f"workers/map/{label}", group, {"workers": map, **given}
        yield f"vectorized/{label}", group, {"function": many, "vectorized": True, **given}
    start = np.array([[low + WHERE[k] for low, _ in box(4)] for k in range(len(WHERE))])
    yield "init/array", EXACT, {"policy": "random", "init": start}
    yield "init/x0", EXACT, {**fixed, "x0": [0.5, 0.25, -0.5, 1.0]}
    for design in ("latinhypercube", "sobol"):
        yield f"init/{design}", MACHINE, {**fixed, "init": design}
    yield "stop/maxiter", EXACT, {**fixed, "maxiter": 7}
    yield "stop/ftarget", EXACT, {**fixed, "ftarget": 6.0}
    yield "stop/tol", MATH, {"tol": 0.05, "maxfun": 500}
    yield "stop/atol", EXACT, {**fixed, "policy": "de4", "atol": 2.0, "maxfun": 900}
    yield "stop/callback", EXACT, {**fixed, "callback": lambda intermediate_result: intermediate_result.nit == 5}
    yield "polish", MACHINE, {**fixed, "polish": True}
    yield "constants", EXACT, {**fixed, "scale": 0.7, "crossover": 0.3}
    yield "one-coordinate", MATH, {"dimension": 1}
    table = np.array([[1.0, 0.0, 0.0, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.0, 0.5, 0.5]])
    yield "policy/schedule", EXACT, {"policy": schedule_policy(table), "population_size": 16}
    for name in ("mixture:0.125,0.25,0.5,0.125", "pm-adapss:default", "pm-adapss:window=20,p_min=0"):
        yield f"policy/{name}", EXACT, {**fixed, "policy": name}
    for name in ("f-auc:default", "rec-pm:default"):
        yield f"policy/{name}", MATH, {**fixed, "policy": name}
    strategies = deddqn.Optimizer(box(2), portfolio=EXTENDED).result.strategies
    yield "policy/last", MATH, {"policy": f"de{len(strategies)}", "portfolio": EXTENDED, "population_size": 16}


WHERE = (0.5, 1.0, 1.75, 2.5, 3.0, 3.25, 4.0, 5.5, 6.25, 7.0, 7.75)
"""Offsets of a population on the diagonal of the box."""
