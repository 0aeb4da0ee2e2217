"""``deddqn transfer``: train on some problems, then compare the policy with other methods on others."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from deddqn.cli.train import Settings, settings_of
from deddqn.de.config import DEConfig
from deddqn.experiments.methods import problems_of
from deddqn.experiments.plan import PAPER_RUNS, Experiment, plan_experiment
from deddqn.policies.files import read_policy_file
from deddqn.problems import Problem
from deddqn.training.api import TrainingFailed, config_of, learn
from deddqn.training.config import TrainingConfig
from deddqn.training.policy_search.search import SearchConfig

RIVALS = ("random", "de1", "de2", "de3", "de4", "pm-adapss", "f-auc", "rec-pm")
NOT_LEARNED = ("device", "threads", "learner_threads", "tensorboard", "checkpoint", "checkpoint_seconds", "max_seconds")
"""Settings that say how to run: they may change between two calls."""


@dataclass(frozen=True, kw_only=True)
class Options(Settings):
    """Trains on --suite (or --problems), tests on --test; the same command again goes on where it stopped."""

    out: Annotated[Path, tyro.conf.arg(help="folder of the training, the policy, the comparison and its report")]
    test: Annotated[tuple[str, ...], tyro.conf.arg(help="suites or problems that the policy has not seen")]
    methods: Annotated[tuple[str, ...], tyro.conf.arg(help="who it is compared with")] = RIVALS
    runs: Annotated[int, tyro.conf.arg(help="of the comparison, per method and problem")] = PAPER_RUNS
    workers: Annotated[int | None, tyro.conf.arg(help="tasks of the comparison at a time; all cores by default")] = None
    figures: Annotated[bool, tyro.conf.arg(help="also draw PDF and PNG figures")] = True


def run(options: Options) -> int:
    """Train, compare, report; status 1 if something failed, 130 if the training was interrupted."""
    config = config_of(settings_of(options))
    trained_on = problems_of(config.problems or [config.suite])
    check_unseen(trained_on, problems_of(options.test))
    planned(options, config, options.methods)  # what is wrong with the comparison is said before the training
    if options.figures:
        from deddqn.report import check_drawing

        check_drawing()
    console = Console()
    policy = policy_path(options.out, config)
    if policy.is_file():
        check_same(policy, config)
        console.print(f"trained already: {policy}", markup=False)
    else:
        console.print(f"training on {len(trained_on)} problems", markup=False)
        if (status := _train(options, config, policy)) != 0:
            return status
    return _compare(options, config, policy, console)


def policy_path(out: Path, config: TrainingConfig | SearchConfig) -> Path:
    """The file of the trained policy; its name says what it was trained on."""
    known = "problems" if config.problems else config.suite
    return out / f"trained-on-{re.sub(r'[^a-z0-9-]+', '-', known)}.safetensors"


def check_unseen(trained_on: dict[str, Problem], tested_on: dict[str, Problem]) -> None:
    """A test on a problem that was trained on would not be one."""
    places = {(problem.seed_name, problem.dimension) for problem in trained_on.values()}
    seen = [name for name, problem in tested_on.items() if (problem.seed_name, problem.dimension) in places]
    if seen:
        raise ValueError(f"test must hold only problems that are not trained on, got {', '.join(seen)}")


def check_same(policy: Path, config: TrainingConfig | SearchConfig) -> None:
    """The policy of the folder must have been trained as it is asked for."""
    wanted, present = config.to_json(), read_policy_file(policy)[1]["provenance"].get("config", {})
    different = [
        f"{name}: {wanted.get(name)} wanted, {present.get(name)} in the folder"
        for name in dict.fromkeys((*wanted, *present))
        if name not in NOT_LEARNED and wanted.get(name) != present.get(name)
    ]
    if different:
        raise ValueError(f"{policy} was trained with other settings; {'; '.join(different)}. Choose another --out")


def planned(options: Options, config: TrainingConfig | SearchConfig, methods: tuple[str, ...]) -> Experiment:
    """The comparison: the searches have the budget, the population and the seed of the training."""
    size = config.population_size
    return plan_experiment(
        methods,
        options.test,
        runs=options.runs,
        budget=config.budget,
        seed=config.seed,
        de={} if size == DEConfig().population_size else {"population_size": size},
    )


def _train(options: Options, config: TrainingConfig | SearchConfig, policy: Path) -> int:
    try:
        learned = learn(config, options.out / "training", resume=True)
    except TrainingFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(learned.summary.replace("go on with --resume", "the same command goes on"))
    if not learned.done:
        return 130
    temporary = policy.with_name(f".{policy.name}.tmp")
    shutil.copyfile(learned.policy, temporary)
    os.replace(temporary, policy)
    return 0


def _compare(options: Options, config: TrainingConfig | SearchConfig, policy: Path, console: Console) -> int:
    from deddqn.experiments.progress import live
    from deddqn.experiments.runner import run_experiment
    from deddqn.report import write_report

    folder = options.out / "comparison"
    what = planned(options, config, (str(policy), *options.methods))
    console.print(what.plan.describe(), markup=False)
    with live(console) as on_start:
        outcome = run_experiment(what, folder, workers=options.workers, on_start=on_start)
    page = write_report(folder, figures=options.figures)
    console.print(f"the policy:  {policy}\nthe report:  {page}", markup=False)
    return 1 if outcome.failed else 0
