"""Many trainings per reward, with seeds of their own: is the paper's result inside of what training seeds give?

    python -m benchmarks.training_seeds train --out DIR [--rewards R1 R2 R3] [--seeds 5] [--device cuda]
    python -m benchmarks.training_seeds choose --out DIR [--ship FOLDER] [--markdown FILE]
    python -m benchmarks.training_seeds evaluate --out DIR [--runs 25] [--markdown FILE]
    python -m benchmarks.training_seeds ablate --out DIR [--rewards R2] [--variants batch-1024 ...] [--cycles 60]

*train* trains every reward with every seed, as near to Table 2 as --batch-size, --replay-ratio and --target-copy (in
evaluations) are, for --cycles or --evaluations; --together K shares the trainings among K processes. It stops after
--max-seconds and resumes when it is called again, also after a kill; what is finished is skipped. The length is cut
into --stages, and the next stage is always that of the training that is shortest, so that all are equally long whenever
the time ends. After each stage the weights of the best cycle so far are kept. --settings: more of them, as JSON.

*choose* takes the weights of the last stage that all trainings have reached, and says how they fare on the training
problems (--repeats runs of each) and which one of every reward the paper's rule keeps: the most reward accumulated in
training. --ship writes these into policy files, by the names of the shipped ones.

*evaluate* runs the same weights on the paper's test problems (or --problems, with --budget), beside its Table 3. Every
evaluation on the test functions goes into docs/research/test-set-log.md.

*ablate* trains variants of one setting each and judges them as *choose* does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from deddqn._utils.atomic import remove_leftovers, replacing, write_text
from deddqn._utils.lock import FolderInUse, FolderLock
from deddqn._utils.signals import stopped_by_signals
from deddqn.analysis.tables import Table, columns, number, to_markdown
from deddqn.evaluation import evaluate_policies, rank_score, reference_errors
from deddqn.policies import CompiledPolicy, load_policy, load_policy_file
from deddqn.training.api import TrainingFailed, learn
from deddqn.training.config import TrainingConfig

REWARDS = ("R1", "R2", "R3")
TARGET_COPY = 1000  # Table 2: evaluations between two copies to the target network
AS_TRAINED: dict[str, Any] = {
    "n_runs": 32,
    "checkpoint": "full",  # light ones would bring the runs to different parts of their budgets again, at every resume
    "checkpoint_seconds": 300.0,
    "tensorboard": False,
}
"""What is not Table 2's, or does not change what is learned: as many runs side by side as there are problems."""

VARIANTS: dict[str, dict[str, Any]] = {
    "as-trained": {},
    "runs-1": {"n_runs": 1},
    "batch-1024": {"batch_size": 1024},
    "batch-65536": {"batch_size": 65_536},
    "copy-64000": {"target_copy": 64_000},
    "copy-512000": {"target_copy": 512_000},
    "memory-2048000": {"buffer_size": 2_048_000},
}
"""What `ablate` tries, one setting each; the presets `fast-*` have the largest batch and the rarest copies."""


def settings(reward: str, seed: int, changes: Mapping[str, Any]) -> TrainingConfig:
    """The settings of one training; `changes` may hold ``target_copy``, in evaluations whatever the batch is."""
    values = {"preset": f"paper-{reward.lower()}", **AS_TRAINED, **changes, "seed": seed}
    values.setdefault("synchronous", values.get("device", "cpu") == "cpu")
    evaluations = values.pop("target_copy", TARGET_COPY)
    samples, batch = (values.get(name, getattr(TrainingConfig, name)) for name in ("replay_ratio", "batch_size"))
    values.setdefault("target_update_interval", max(1, round(evaluations * samples / batch)))
    return TrainingConfig.from_json(values)


@dataclass(frozen=True)
class Training:
    """One training in a folder of its own; `config.cycles` is its whole length."""

    folder: Path
    config: TrainingConfig

    @property
    def name(self) -> str:
        """That of the folder."""
        return self.folder.name

    @property
    def reached(self) -> int:
        """The cycles of the last stage that is kept; 0 before the first."""
        return max(stages_of(self.folder), default=0)

    def advance(self, stages: int, seconds: float) -> bool:
        """Train to the end of the next stage and keep its weights; False if stopped before, FolderInUse if taken."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with FolderLock(self.folder, ".stage"):
            goal = next((c for c in stage_ends(self.config.cycles, stages) if c > self.reached), None)
            if goal is None:
                return True
            learned = learn(replace(self.config, cycles=goal, max_seconds=seconds), self.folder, resume=True)
            if learned.done:
                keep_stage(self.folder, goal)
            return learned.done


def stage_ends(cycles: int, stages: int) -> list[int]:
    """The cycles at which stages end; fewer stages where there are not so many cycles."""
    return sorted({max(1, round(cycles * k / stages)) for k in range(1, stages + 1)})


def stages_of(folder: Path) -> dict[int, Path]:
    """The stages that a training has kept, by their cycles."""
    return {int(path.name.removeprefix("at-")): path for path in folder.glob("at-*")}


def keep_stage(folder: Path, cycles: int) -> None:
    """Copy the weights of the best cycle and the summary into the folder of the stage, whole or not at all."""
    remove_leftovers(folder, "at-*", folders=True)
    with replacing(folder / f"at-{cycles:06d}") as temporary:
        temporary.mkdir()
        for name in ("best.safetensors", "summary.json"):
            shutil.copy(folder / name, temporary / name)


class Stopped(Exception):
    """A signal has ended a training, with a checkpoint."""


def train_all(
    trainings: Sequence[Training],
    stages: int,
    *,
    max_seconds: float = 0.0,
    together: int = 1,
    stopped: threading.Event | None = None,
) -> list[str]:
    """Train stage by stage, always what is shortest; return the names of those whose loss was not finite.

    Other processes may do the same in the same folders: who comes later takes another training.
    """
    started, cycles = time.monotonic(), 0
    failed: list[str] = []
    while True:
        if stopped is not None and stopped.is_set():
            raise Stopped
        seconds = max_seconds - (time.monotonic() - started) if max_seconds else 0.0
        left = [t for t in trainings if t.reached < t.config.cycles and t.name not in failed]
        if not left or (max_seconds and seconds <= 0.0):
            return failed
        for training in sorted(left, key=lambda t: t.reached):
            before = training.reached
            try:
                if not training.advance(stages, seconds):
                    if max_seconds and time.monotonic() - started >= max_seconds:
                        return failed
                    raise Stopped
            except FolderInUse:
                continue
            except TrainingFailed as error:
                print(f"{training.name}: {error}", flush=True)
                failed.append(training.name)
                break
            cycles += training.reached - before
            report_progress(training, trainings, (time.monotonic() - started) / max(cycles, 1) / together)
            break
        else:
            return failed  # others are at work on all that is left


def report_progress(training: Training, trainings: Sequence[Training], seconds: float) -> None:
    """Say what was reached, and how long the rest takes at so many `seconds` per cycle."""
    left = sum(max(t.config.cycles - t.reached, 0) for t in trainings)
    done = sum(t.reached >= t.config.cycles for t in trainings)
    reached = f"{training.name}: {training.reached} of {training.config.cycles} cycles"
    minutes = left * seconds / 60.0
    print(f"{reached}; {done} of {len(trainings)} trainings finished, about {minutes:.1f} minutes left", flush=True)


@dataclass(frozen=True)
class Kept:
    """The weights that a training has kept at a stage, and what its summary says."""

    path: Path
    name: str
    policy: CompiledPolicy
    summary: dict[str, Any]

    @classmethod
    def of(cls, folder: Path, cycles: int) -> Kept:
        """As `keep_stage` left it."""
        stage = stages_of(folder)[cycles]
        path = stage / "best.safetensors"
        policy = load_policy_file(path)
        policy.name = folder.name
        return cls(path, folder.name, policy, json.loads((stage / "summary.json").read_text()))

    @property
    def config(self) -> TrainingConfig:
        """The settings that it was trained with."""
        return TrainingConfig.from_json(self.policy.metadata["provenance"]["config"])

    @property
    def mean_return(self) -> float:
        """The reward accumulated in training, per cycle: stages may end a few cycles late."""
        return float(self.summary["total_return"]) / float(self.summary["cycles"])

    @property
    def described(self) -> tuple[str, ...]:
        """Name, length, returns (those of cycles, or the means of a long training's quarters), and their mean."""
        returns = [mean for _, mean in self.summary["curve"]]
        parts = np.array_split(returns, min(4, len(returns)))
        lengths = (f"{self.summary[name]:,}" for name in ("cycles", "evaluations", "updates"))
        return (self.name, *lengths, ", ".join(number(float(p.mean())) for p in parts), number(self.mean_return))


def kept_trainings(out: Path, cycles: int = 0) -> list[Kept]:
    """All trainings below `out` at the last stage that they have in common, or those that have kept this one."""
    found = {folder: stages_of(folder) for folder in sorted(out.glob("*-seed*")) if stages_of(folder)}
    if not found:
        raise ValueError(f"out must be a folder with trainings that have finished a stage, got {out}")
    common = set.intersection(*(set(stages) for stages in found.values()))
    if not cycles and not common:
        raise ValueError(f"the trainings in {out} have no stage in common; choose one with --cycles")
    cycles = cycles or max(common)
    return [Kept.of(folder, cycles) for folder, stages in found.items() if cycles in stages]


def deviations_of(kept: Sequence[Kept]) -> str:
    """In words, the settings of trainings that are not Table 2's."""
    recorded = [k.policy.metadata["provenance"]["deviations"].items() for k in kept]
    found = {f"{name} {here} ({paper})" for items in recorded for name, (paper, here) in items if name != "cycles"}
    return f"Other settings than in Table 2, whose are in brackets: {', '.join(sorted(found)) or 'none'}."


def trainings_table(kept: Sequence[Kept], beside: Sequence[str], repeats: int, title: str) -> Table:
    """What became of trainings with one reward, on the training problems alone; policies `beside` them come first."""
    config = kept[0].config
    problems, de = config.training_problems(), config.de_config()
    references = reference_errors(problems, repeats=repeats, config=de)
    policies = [*map(load_policy, beside), *(k.policy for k in kept)]
    greedy = evaluate_policies(policies, problems, repeats=repeats, config=de, reward=config.reward)
    described = [*((name, "", "", "", "", "") for name in beside), *(k.described for k in kept)]
    rows = [
        (
            *texts,
            number(e.mean_return),
            " ".join(f"{100 * share:.0f}" for share in e.shares.mean(axis=0)),
            f"{rank_score(e.errors, references):.3f}",
        )
        for texts, e in zip(described, greedy, strict=True)
    ]
    names = ("training", "cycles", "evaluations", "updates", "returns, in turn", "their mean")
    judged = ("greedy return", "shares, %", "rank score")
    return Table(
        "trainings", title, columns(*((name,) for name in (*names, *judged))), tuple(rows), deviations_of(kept)
    )


def ablation(out: Path, repeats: int) -> list[str]:
    """The table of variants that were trained below `out`."""
    title = "Variants of one training, on the training problems"
    return [to_markdown(trainings_table(kept_trainings(out), ["random"], repeats, title))]


def planned(options: argparse.Namespace) -> list[Training]:
    """The trainings of `train` or `ablate`, seed by seed."""
    changes = {"batch_size": options.batch_size, "replay_ratio": options.replay_ratio, "device": options.device}
    changes |= {"target_copy": options.target_copy, "threads": max(1, (os.cpu_count() or 1) // options.together)}
    changes |= json.loads(options.settings)
    ablates = options.command == "ablate"
    variants = {f"-{name}": VARIANTS[name] for name in options.variants} if ablates else {"": {}}
    found = []
    for seed in range(options.seeds):
        for reward in options.rewards:
            for name, variant in variants.items():
                config = settings(reward, seed, {**changes, **variant})
                cycles = options.cycles
                if options.evaluations:
                    cycles = round(options.evaluations / len(config.training_problems()) / config.budget)
                config = replace(config, cycles=max(1, cycles))
                found.append(Training(options.out / f"{reward.lower()}{name}-seed{seed}", config))
    return found


def train(options: argparse.Namespace, arguments: Sequence[str]) -> int:
    """Train all, in as many processes as are asked for; return the exit status. Helpers get signals from here."""
    trainings, failed = planned(options), []
    command = [sys.executable, "-m", "benchmarks.training_seeds", *arguments, "--helper"]
    helpers: list[subprocess.Popen[bytes]] = []
    limits: dict[str, Any] = {"max_seconds": options.max_seconds, "together": options.together}
    stopped = threading.Event()
    with stopped_by_signals(stopped.set):
        for _ in range(0 if options.helper else options.together - 1):
            helpers.append(subprocess.Popen(command, start_new_session=True))
        try:
            failed = train_all(trainings, options.stages, stopped=stopped, **limits)
        except Stopped:
            stop_all(helpers)
    with stopped_by_signals(lambda: stop_all(helpers)):
        statuses = [helper.wait() for helper in helpers]
    left = [t.name for t in trainings if t.reached < t.config.cycles]
    if left and not options.helper:
        print(f"{len(left)} of {len(trainings)} trainings are not finished; the same command resumes them", flush=True)
    return 1 if failed or set(statuses) - {0, -signal.SIGTERM} else 0


def stop_all(helpers: Sequence[subprocess.Popen[bytes]]) -> None:
    """Let helpers end, with checkpoints."""
    for helper in helpers:
        helper.terminate()


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = made.add_subparsers(dest="command", required=True)
    for name, rewards, seeds, cycles in (("train", REWARDS, 5, 1890), ("ablate", ("R2",), 1, 60)):
        one = commands.add_parser(name)
        one.add_argument("--out", type=Path, required=True, help="folder of the trainings")
        one.add_argument("--rewards", nargs="+", default=list(rewards), choices=REWARDS)
        one.add_argument("--seeds", type=int, default=seeds, help="trainings per reward")
        one.add_argument("--cycles", type=int, default=cycles, help="the paper's are 1890")
        one.add_argument(
            "--evaluations", type=float, default=0, help="length in evaluations instead; the paper's is 6.05e8"
        )
        one.add_argument("--batch-size", type=int, default=TrainingConfig.batch_size)
        one.add_argument("--replay-ratio", type=float, default=TrainingConfig.replay_ratio)
        one.add_argument("--target-copy", type=int, default=TARGET_COPY, help="evaluations between two copies")
        one.add_argument("--device", default="cpu", help="cpu or cuda")
        one.add_argument("--max-seconds", type=float, default=0.0, help="stop with checkpoints after this time")
        one.add_argument("--together", type=int, default=1, help="processes that share the trainings")
        one.add_argument("--stages", type=int, default=20, help="parts of a training, done in turn")
        one.add_argument("--settings", default="{}", help="further settings of all trainings, as JSON")
        one.add_argument("--helper", action="store_true", help=argparse.SUPPRESS)
    one.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    for name in ("choose", "evaluate"):
        one = commands.add_parser(name)
        one.add_argument("--out", type=Path, required=True, help="folder of the trainings")
        one.add_argument("--cycles", type=int, default=0, help="the stage to take, not the last common one")
    one.add_argument("--runs", type=int, default=25)
    one.add_argument("--problems", nargs="+", default=["cec2005-test"], help="others to try the command")
    one.add_argument("--budget", type=int, default=10_000)
    one.add_argument("--seed", type=int, default=0)
    commands.choices["choose"].add_argument("--ship", type=Path, help="folder for the policy files of the chosen")
    for name in ("choose", "ablate"):
        commands.choices[name].add_argument("--repeats", type=int, default=25, help="runs per training problem")
    for one in (commands.choices[name] for name in ("choose", "evaluate", "ablate")):
        one.add_argument("--markdown", type=Path, help="also write the tables into this file")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, choose, evaluate or ablate; return the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    options = parser().parse_args(arguments)
    status, texts = 0, []
    if options.command in ("train", "ablate"):
        status = train(options, arguments)
    if options.command in ("choose", "evaluate"):
        from benchmarks import seed_tables  # needs pandas, which a machine for training may lack

        texts = seed_tables.choice(options) if options.command == "choose" else seed_tables.evaluation(options)
    elif options.command == "ablate" and not options.helper and any(options.out.glob("*/at-*")):
        texts = ablation(options.out, options.repeats)
    if texts:
        print("\n".join(texts))
        if options.markdown:
            write_text(options.markdown, "\n".join(texts))
    return status


if __name__ == "__main__":
    sys.exit(main())
