"""The training loop of Double DQN (Algorithm 1): collect rollouts, learn, in cycles over the training problems."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from deddqn._utils.atomic import write_text
from deddqn._utils.plain_json import check_form
from deddqn._utils.validation import check_whole_number
from deddqn.evaluation import evaluate_policy, rank_score, reference_errors
from deddqn.features.layout import n_features
from deddqn.policies import network_policy, save_policy
from deddqn.problems import Problem
from deddqn.training.checkpoint import (
    below,
    check_same,
    damaged,
    load_checkpoint,
    prefixed,
    prepare_folder,
    save_checkpoint,
)
from deddqn.training.config import TrainingConfig
from deddqn.training.dqn.curriculum import RETURNS, Cycle, CycleReturns
from deddqn.training.dqn.learner import Learner
from deddqn.training.dqn.replay_buffer import ReplayBuffer
from deddqn.training.dqn.reward_tables import reward_tables
from deddqn.training.dqn.rollout import Actors, Rollout, RolloutSource
from deddqn.training.dqn.weights import Layers
from deddqn.training.provenance import provenance_of, thinned
from deddqn.training.training_log import TrainingLog


@dataclass(frozen=True)
class TrainingResult:
    """The state and the best results of a training; the policy files lie in its folder."""

    done: bool
    evaluations: int
    updates: int
    cycles: int
    best_cycle: int
    best_return: float
    total_return: float
    best_rank: float | None
    folder: Path


class Trainer:
    """One training: actors, replay buffer, learner, and the returns of the cycles.

    Parameters
    ----------
    config : all settings.
    out : the folder of log, checkpoints and policies.
    problems : training problems instead of those that `config` names; problems of the user go here.
    resume : continue from the newest checkpoint in `out`, if it has one; without it such a folder is refused.
    actors : makes the source of the rollouts; runs in this process by default.
    """

    def __init__(
        self,
        config: TrainingConfig,
        out: str | Path,
        *,
        problems: Sequence[Problem] | None = None,
        resume: bool = False,
        quiet: bool = False,
        actors: Callable[..., RolloutSource] = Actors,
    ) -> None:
        self.config, self.out = config, Path(out)
        self._lock, found = prepare_folder(self.out, resume=resume)
        try:
            self.problems = list(problems) if problems is not None else config.training_problems()
            self._begin(actors, found, quiet)
        except BaseException:
            self._lock.release()
            raise

    def _begin(self, actors: Callable[..., RolloutSource], found: bool, quiet: bool) -> None:
        """Build everything, and take what a checkpoint has if one was `found`."""
        config = self.config
        self.portfolio = config.operators()
        threads = config.threads or None
        settings: dict[str, Any] = {"portfolio": self.portfolio, "seed": config.seed, "threads": threads}
        self.setups = reward_tables(config.reward, self.problems, config.de_config(), **settings)
        self.buffer = _buffer_of(config)
        self.learner = Learner(config, self.buffer.features, len(self.portfolio), self.buffer)
        layers = self.learner.primary.export()
        self.actors = actors(config, self.problems, self.setups, layers, pin=self._pinned)
        self.cycle_returns = CycleReturns(len(self.problems))
        self.kept: dict[str, Layers] = {"best": layers}
        self.best_rank: float | None = None
        self.best_greedy: float | None = None  # mean return of greedy runs on held-out seeds
        self.references: np.ndarray | None = None
        self.evaluations = self.decisions = self.saved = self.evaluated = 0
        self.skipped = 0  # decisions before learning started
        self.loss = 0.0
        self._set_epsilon()
        position = self._resume() if found else 0
        if config.desynchronize and self.buffer.stored == 0:
            self.evaluations += self.actors.desynchronize()
        total = config.cycles * len(self.problems) * config.budget
        self.log = TrainingLog(self.out, total, position=position, tensorboard=config.tensorboard, quiet=quiet)
        self._started = self._saved_at = time.monotonic()
        self.stopped = False

    def run(self) -> TrainingResult:
        """Algorithm 1 lines 5-24, with checkpoints; returns early when stopped or out of time."""
        try:
            while not self.done and not self.out_of_time:
                for rollout in self.actors.rollouts(self._continues, overlapped=not self.config.synchronous):
                    self.train_on(rollout)
                self.evaluate_if_due()
                self.save()
            if self.done:
                self._write_results()
        finally:
            self.actors.close()
            self.close()
        return self.result

    def stop(self) -> None:
        """End the training soon, with a checkpoint."""
        self.stopped = True

    def close(self) -> None:
        """Close the log and leave the folder to others; `run` does so at its end."""
        try:
            self.log.close()
        finally:
            self._lock.release()

    def train_on(self, rollout: Rollout) -> None:
        """Algorithm 1 lines 15-23 for one rollout: store it, learn from the buffer, and give the actors new weights."""
        learning = self.buffer.stored >= self.config.learning_starts
        if rollout.truncate:
            self.buffer.truncate(rollout.first, len(rollout.record.made))
        self.buffer.add(rollout.record, self.config.reward_scale, rollout.first)  # line 15
        self.decisions += rollout.decisions
        self.evaluations += rollout.decisions + rollout.unrecorded
        if self.config.device != "cpu":
            torch.cuda.current_stream().synchronize()  # earlier updates are done, and the memory of the rollout is free
            self._synchronize(rollout)
        if learning:
            due = int((self.decisions - self.skipped) * self.config.replay_ratio // self.config.batch_size)
            self.learner.update(due - self.learner.updates)  # lines 16-23
        else:
            self.skipped += rollout.decisions
            self._set_epsilon()
        if self.config.device == "cpu":
            self._synchronize(rollout)

    def _synchronize(self, rollout: Rollout) -> None:
        """Give the actors the newest weights and note the finished runs, while no update is under way."""
        self.learner.check_loss()
        self.actors.set_weights(self.learner.primary.export(), self.learner.updates)
        self._note_finished(rollout)

    def _set_epsilon(self) -> None:
        """Line 2: operators are random until learning starts."""
        self.actors.set_epsilon(1.0 if self.decisions < self.config.learning_starts else self.config.epsilon)

    def _note_finished(self, rollout: Rollout) -> None:
        for run in rollout.finished:
            self.evaluations += self.config.population_size
            cycle = self.cycle_returns.add(run)
            if cycle is not None:
                self._end_cycle(cycle)
        cycles, best = self.cycle_returns.finished, self.cycle_returns.best
        text = f"{cycles} cycles  best mean return {best:.5g}  loss {self.loss:.4g}"
        self.log.progress(self.evaluations, self.learner.updates, f"{text}  {self.actors.describe()}".rstrip())

    def _end_cycle(self, cycle: Cycle) -> None:
        """Keep the weights if no cycle was better; a loss that is not finite ends the training here."""
        self.loss = self.learner.mean_loss()
        if self.cycle_returns.update_best(cycle):
            self.kept["best"] = self.learner.primary.export()
        self.log.event(
            "cycle",
            self.evaluations,
            cycle=cycle.number,
            mean_return=cycle.mean_return,
            best_return=self.cycle_returns.best,
            loss=self.loss,
            updates=self.learner.updates,
            **self.actors.metrics(),
        )

    @property
    def done(self) -> bool:
        """True when all cycles are finished."""
        return self.cycle_returns.finished >= self.config.cycles

    @property
    def out_of_time(self) -> bool:
        """True when `stopped` was set, or `max_seconds` have passed."""
        limit = self.config.max_seconds
        return self.stopped or 0.0 < limit < time.monotonic() - self._started

    @property
    def _evaluation_is_due(self) -> bool:
        every = self.config.evaluate_every
        return every > 0 and (self.cycle_returns.finished >= self.evaluated + every or self.done)

    def _continues(self) -> bool:
        waits = time.monotonic() - self._saved_at < self.config.checkpoint_seconds
        return waits and not (self.done or self._evaluation_is_due or self.out_of_time)

    def evaluate_if_due(self) -> None:
        """Rank the final errors of the greedy policy on held-out seeds: a second way to select weights."""
        if not self._evaluation_is_due:
            return
        self.evaluated = self.cycle_returns.finished
        settings: dict[str, Any] = {
            "seed": self.config.seed,
            "config": self.config.de_config(),
            "portfolio": self.portfolio,
        }
        repeats, threads = self.config.evaluate_repeats, self.config.threads or None
        if self.references is None:
            self.references = reference_errors(self.problems, repeats=repeats, threads=threads, **settings)
        layers = self.learner.evaluated.export()
        policy = network_policy(*zip(*layers, strict=True), **self._made_for)
        found = evaluate_policy(
            policy,
            self.problems,
            repeats=repeats,
            threads=threads,
            reward=self.config.reward,
            reward_setups=self.setups,
            **settings,
        )
        score = rank_score(found.errors, self.references)
        if self.best_rank is None or score > self.best_rank:
            self.best_rank, self.kept["ranked"] = score, layers
        if self.best_greedy is None or found.mean_return > self.best_greedy:
            self.best_greedy, self.kept["greedy"] = found.mean_return, layers
        scores = {"rank_score": score, "best_rank_score": self.best_rank, "greedy_return": found.mean_return}
        self.log.event("evaluation", self.evaluations, cycle=self.evaluated, **scores)

    @property
    def _made_for(self) -> dict[str, Any]:
        return {
            "portfolio": self.portfolio,
            "max_dimension": max(p.dimension for p in self.problems),
            "de": self.config.de_config().own_settings(),
        }

    def save(self) -> None:
        """Write a checkpoint of everything, or (light) of what was learned."""
        self.learner.check_loss()
        arrays = prefixed("learner", self.learner.to_arrays()) | prefixed("actors", self.actors.to_arrays())
        if self.config.checkpoint == "full":
            arrays |= prefixed("buffer", self.buffer.to_arrays())
        else:
            arrays.pop("actors/arenas", None)
        for name, layers in self.kept.items():
            for k, (weight, bias) in enumerate(layers):
                arrays |= {f"kept/{name}/{k}/weight": weight, f"kept/{name}/{k}/bias": bias}
        self.saved += 1
        state = {name: getattr(self, name) for name in _COUNTERS}
        state |= {"updates": self.learner.updates, "stored": self.buffer.stored, "reported": self.learner.reported}
        state |= {
            "config": self.config.to_json(),
            "cycle_returns": self.cycle_returns.to_json(),
            "log": self.log.flush(),
        }
        save_checkpoint(self.out, self.saved, arrays, state)
        self._saved_at = time.monotonic()

    def _resume(self) -> int:
        """Take everything from the newest checkpoint; return the length that the log had."""
        arrays, state = load_checkpoint(self.out)
        check_same(self.out, self.config.to_json(), state.get("config", {}), _MAY_CHANGE)
        with damaged(self.out):
            self._take(arrays, state)
        return int(state["log"])

    def _take(self, arrays: dict[str, np.ndarray], state: dict[str, Any]) -> None:
        """Take over what a checkpoint holds; anything that does not fit raises something."""
        check_form(state, _STATE, "its state")
        for name in (
            "updates",
            "stored",
            "reported",
            "evaluations",
            "decisions",
            "skipped",
            "saved",
            "evaluated",
            "log",
        ):
            check_whole_number(name, state[name], 0)
        due = (state["decisions"] - state["skipped"]) * self.config.replay_ratio // self.config.batch_size
        if not 0 <= due <= state["updates"] + MOST_OVERDUE:
            raise ValueError(f"decisions must go with {state['updates']} updates, got {state['decisions']}")
        self.learner.load_arrays(below("learner", arrays))
        self.learner.updates, self.learner.reported = state["updates"], state["reported"]
        if self.config.ema_window and not state["config"]["ema_window"]:
            self.learner.start_average()
        self.actors.load_arrays(below("actors", arrays))
        if stored := below("buffer", arrays):
            if stored["actions"].max(initial=0) >= len(self.portfolio):
                raise ValueError(f"actions must be below {len(self.portfolio)}")
            self.buffer.load_arrays(stored)
            self.buffer.stored = state["stored"]
            if "actors/arenas" not in arrays:  # actors on a cluster: their runs start again
                self.buffer.truncate(0, self.config.n_runs)
        for name in _COUNTERS:
            setattr(self, name, state[name])
        self.cycle_returns = CycleReturns.from_json(state["cycle_returns"])
        for name in {key.split("/")[0] for key in below("kept", arrays)}:
            layers = below(f"kept/{name}", arrays)
            depth = len(layers) // 2
            self.kept[name] = [(layers[f"{k}/weight"], layers[f"{k}/bias"]) for k in range(depth)]
            network_policy(*zip(*self.kept[name], strict=True), **self._made_for)  # checks the layers
        self._set_epsilon()
        self.actors.set_weights(self.learner.primary.export(), self.learner.updates)

    def _write_results(self) -> None:
        """The policy files: best cycle, last weights and (if evaluated) best rank; and a summary."""
        self.kept["final"] = self.learner.evaluated.export()
        summary = {
            "curve": thinned(self.cycle_returns.curve),
            "best_cycle": self.cycle_returns.best_cycle,
            "best_return": self.cycle_returns.best,
        }
        scores = {"ranked": {"rank_score": self.best_rank}, "greedy": {"greedy_return": self.best_greedy}}
        for name, layers in self.kept.items():  # a score belongs to the weights that it was measured with
            provenance = provenance_of(self.config, self.problems, kept=name, **scores.get(name, {}), **summary)
            path = self.out / f"{name}.safetensors"
            save_policy(path, *zip(*layers, strict=True), name=name, provenance=provenance, **self._made_for)
        result = {key: value for key, value in asdict(self.result).items() if key != "folder"}
        write_text(self.out / "summary.json", json.dumps({**result, **summary}, indent=1))

    @property
    def result(self) -> TrainingResult:
        """How far the training is."""
        return TrainingResult(
            done=self.done,
            evaluations=self.evaluations,
            updates=self.learner.updates,
            cycles=self.cycle_returns.finished,
            best_cycle=self.cycle_returns.best_cycle,
            best_return=self.cycle_returns.best,
            total_return=self.cycle_returns.total,
            best_rank=self.best_rank,
            folder=self.out,
        )

    def _pinned(self, array: np.ndarray) -> np.ndarray:
        return array if self.config.device == "cpu" else torch.from_numpy(array).pin_memory().numpy()


def _buffer_of(config: TrainingConfig) -> ReplayBuffer:
    return ReplayBuffer(
        n_runs=config.n_runs,
        capacity=config.buffer_size,
        features=n_features(len(config.portfolio)),
        rollout_steps=config.rollout_steps,
        n_step=config.n_step,
        gamma=config.gamma,
        device=config.device,
        state_type=config.state_type,
    )


_COUNTERS = ("evaluations", "decisions", "skipped", "saved", "evaluated", "loss", "best_rank", "best_greedy")
MOST_OVERDUE = 1000  # updates that a whole checkpoint may be behind: it is written between rollouts
_STATE = {  # the form of the state of a checkpoint
    **dict.fromkeys(("evaluations", "decisions", "skipped", "saved", "evaluated", "updates", "stored"), int),
    "reported": int,
    "loss": float,
    "best_rank": (float, None),
    "best_greedy": (float, None),
    "log": int,
    "config": dict,
    "cycle_returns": RETURNS,
}
_MAY_CHANGE = (
    *("cycles", "ema_window", "evaluate_every", "evaluate_repeats"),
    *("threads", "device", "checkpoint_seconds", "max_seconds", "tensorboard"),
)


def train(
    config: TrainingConfig, out: str | Path, *, problems: Sequence[Problem] | None = None, resume: bool = False
) -> TrainingResult:
    """Train into the folder `out`; with `resume` continue from its newest checkpoint, if it has one."""
    return Trainer(config, out, problems=problems, resume=resume).run()
