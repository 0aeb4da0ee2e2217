"""`deddqn.optuna.Sampler` beside Optuna's own samplers: seven mixed parameters of a support vector regression.

120 trials, 11 seeds. What is compared is the best value of a study (log10 of the relative error): mean rank among the
samplers over the seeds, and Wilcoxon's signed-rank test over the seeds against each. Optuna's GP sampler needs nearly
all of the time; ``--samplers`` runs the named ones alone, values of the others are then taken from the last run.
``--chosen-on`` runs the studies that the settings of the sampler were chosen on, which are none of the reported.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from scipy.stats import rankdata, wilcoxon

from benchmarks.bars import Bar, print_bars
from benchmarks.optuna_problems import CHOSEN_ON, REPORTED
from deddqn.optuna import Sampler

TRIALS, SEEDS = 120, 11
ALPHA = 0.05
OURS = "deddqn"
FIRST_CHOICE_SEED = 100  # of the data of the studies that settings were chosen on
VALUES = Path("out/optuna.json")


def _cma_es(seed: int) -> Any:
    return optuna.samplers.CmaEsSampler(seed=seed, warn_independent_sampling=False)


SAMPLERS: dict[str, Callable[[int], Any]] = {
    OURS: lambda seed: Sampler(seed=seed, n_trials=TRIALS),
    "tpe": lambda seed: optuna.samplers.TPESampler(seed=seed),
    "cma-es": _cma_es,
    "gp": lambda seed: optuna.samplers.GPSampler(seed=seed),
}


def best_value(objective: Callable[[Any], float], sampler: Any) -> float:
    """The best value of a study."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Optuna marks some samplers as experimental
        study = optuna.create_study(sampler=sampler)
        study.optimize(objective, n_trials=TRIALS)
    return float(study.best_value)


def measure(problem: str, make: Callable[[int], Any], names: list[str], first_seed: int) -> dict[str, list[float]]:
    """The best values of all seeds, by sampler; those that do not run are read from the last run."""
    known = json.loads(VALUES.read_text()) if VALUES.exists() else {}
    for name in names:
        values = [best_value(make(first_seed + seed), SAMPLERS[name](seed)) for seed in range(SEEDS)]
        known.setdefault(problem, {})[name] = values
        print(f"{problem:<14} {name:<8} median {np.median(values):.4f}  worst {max(values):.4f}", flush=True)
        VALUES.parent.mkdir(exist_ok=True)
        VALUES.write_text(json.dumps(known, indent=1))
    return {name: values for name, values in known[problem].items() if name in SAMPLERS}


def compare(problem: str, values: dict[str, list[float]]) -> tuple[dict[str, float], int]:
    """Print mean ranks and tests; return the mean ranks, and how many samplers are significantly better than ours."""
    table = np.array(list(values.values()))
    ranks = dict(zip(values, rankdata(table, axis=0).mean(axis=1).tolist(), strict=True))
    better = 0
    for name, mean_rank in sorted(ranks.items(), key=lambda item: item[1]):
        difference = np.array(values[OURS]) - np.array(values[name])
        p = 1.0 if not difference.any() else float(wilcoxon(difference).pvalue)
        better += p < ALPHA and bool(np.median(difference) > 0)
        told = "" if name == OURS else f"  deddqn is lower in {np.sum(difference < 0)} of {SEEDS}, p = {p:.3f}"
        print(f"{problem:<14} {name:<8} mean rank {mean_rank:.2f}{told}", flush=True)
    return ranks, better


def main(samplers: list[str] | None = None, chosen_on: bool = False) -> list[Bar]:
    """Run everything, print ranks and tests; return the targets: nobody is better by mean rank, or significantly."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    problems, first_seed = (CHOSEN_ON, FIRST_CHOICE_SEED) if chosen_on else (REPORTED, 0)
    bars = []
    for problem, make in problems.items():
        ranks, better = compare(problem, measure(problem, make, samplers or list(SAMPLERS), first_seed))
        others = min(rank for name, rank in ranks.items() if name != OURS)
        what = f"mean rank of deddqn.optuna.Sampler, {problem}, over the best of Optuna's"
        bars.append(Bar(what, ranks[OURS] / others, 1.0))
        bars.append(Bar(f"samplers of Optuna that are significantly better, {problem}", better, 0))
    print_bars(bars)
    return bars


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samplers", nargs="+", choices=tuple(SAMPLERS), help="run these alone")
    parser.add_argument("--chosen-on", action="store_true", help="the studies that the settings were chosen on")
    main(**vars(parser.parse_args()))
