"""Studies of Optuna with our sampler."""

import math
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")
from deddqn.optuna import Sampler  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


def mixed(trial):
    """Best at x = 0.3, rate = 1e-2, n = 7, "b"; every choice of a category costs."""
    x, rate = trial.suggest_float("x", -1.0, 1.0), trial.suggest_float("rate", 1e-5, 1.0, log=True)
    n, step = trial.suggest_int("n", 1, 20), trial.suggest_float("step", 0.0, 1.0, step=0.25)
    cost = {"a": 1.0, "b": 0.0, "c": 0.5}[trial.suggest_categorical("kind", ("a", "b", "c"))]
    return (x - 0.3) ** 2 + (math.log10(rate) + 2.0) ** 2 + 0.05 * (n - 7) ** 2 + (step - 0.5) ** 2 + cost


def study_of(direction="minimize", **options):
    return optuna.create_study(sampler=Sampler(seed=1, **options), direction=direction)


def journal(path):
    """A storage that processes share, quicker than SQLite."""
    return optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(path)))


def values(study):
    return [trial.value for trial in study.trials]


def params(study):
    return [trial.params for trial in study.trials]


def test_a_mixed_space():
    study = study_of(n_trials=150)
    study.optimize(mixed, n_trials=150)
    assert study.best_value < 0.1 and study.best_params["kind"] == "b"
    random = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=1))
    random.optimize(mixed, n_trials=150)
    assert study.best_value < 0.5 * random.best_value


def test_the_same_seed_gives_the_same_trials():
    first, second = study_of(), study_of()
    for study in (first, second):
        study.optimize(mixed, n_trials=40)
    assert params(first) == params(second)
    other = optuna.create_study(sampler=Sampler(seed=2))
    other.optimize(mixed, n_trials=40)
    assert params(other) != params(first)


def test_maximise():
    down, up = study_of(), study_of("maximize")
    down.optimize(mixed, n_trials=60)
    up.optimize(lambda trial: -mixed(trial), n_trials=60)
    assert params(down) == params(up) and up.best_value == -down.best_value


def test_the_first_design_covers_the_space():
    study = study_of(n_startup_trials=20)
    study.optimize(mixed, n_trials=20)
    x = np.array([trial.params["x"] for trial in study.trials])
    assert np.histogram(x, bins=5, range=(-1, 1))[0].min() >= 2
    assert {trial.params["kind"] for trial in study.trials} == {"a", "b", "c"}


def test_more_trials_than_were_planned():
    study = study_of(n_trials=20)
    study.optimize(mixed, n_trials=90)
    assert len(study.trials) == 90 and min(values(study)[60:]) <= min(values(study)[:60])


def test_ask_and_tell_in_any_order():
    study = study_of(n_trials=120)
    waiting = [study.ask() for _ in range(6)]
    for k in range(120):
        trial = waiting.pop((7 * k) % len(waiting))
        study.tell(trial, mixed(trial))
        waiting.append(study.ask())
    assert study.best_value < 1.0


def test_failed_and_pruned_trials():
    def objective(trial):
        value = mixed(trial)
        if trial.number % 5 == 3:
            raise RuntimeError("failed")
        trial.report(value + 1.0, 0)
        if trial.number % 7 == 5:
            raise optuna.TrialPruned
        if trial.number % 11 == 8:
            return math.nan
        return value

    study = study_of(n_trials=100)
    study.optimize(objective, n_trials=100, catch=(RuntimeError,))
    states = [trial.state.name for trial in study.trials]
    assert states.count("FAIL") > 15 and states.count("PRUNED") > 8 and study.best_value < 1.5
    optimizer = study.sampler._search.optimizer
    assert optimizer.result.nfev >= 80 and optimizer.result.non_finite > 0


def test_a_pruned_trial_counts_with_its_last_intermediate_value():
    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        for step in range(3):
            trial.report(x + 3.0 - step, step)
        if trial.number >= 3:
            raise optuna.TrialPruned
        return 5.0

    study = study_of(n_startup_trials=8)
    study.optimize(objective, n_trials=30)
    best = min(trial.params["x"] for trial in study.trials if trial.number >= 3 and trial.number < 29)
    assert study.sampler._search.optimizer.result.fun == pytest.approx(1.0 + best)


def test_enqueued_trials_are_used():
    study = study_of(n_startup_trials=10)
    study.optimize(mixed, n_trials=12)
    best = {"x": 0.3, "rate": 1e-2, "n": 7, "step": 0.5, "kind": "b"}
    study.enqueue_trial(best)
    study.enqueue_trial({"x": 0.25})
    study.optimize(mixed, n_trials=4)
    assert study.trials[12].params == best and study.trials[13].params["x"] == 0.25
    result = study.sampler._search.optimizer.result
    assert result.fun == pytest.approx(0.0, abs=1e-20)
    assert study.sampler._search.encoding.decode(result.x) == pytest.approx(best)


def test_conditional_parameters():
    def objective(trial):
        x = trial.suggest_float("x", 0.0, 1.0)
        if trial.suggest_categorical("which", ("one", "two")) == "one":
            return x + trial.suggest_float("only_one", 0.0, 1.0)
        return x + 0.2

    study = study_of()
    study.optimize(objective, n_trials=50)
    assert set(study.sampler._search.encoding.space) == {"x", "which"}
    assert study.best_value < 0.25


def test_a_space_that_changes_is_searched_anew():
    study = study_of()
    study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=15)
    study.optimize(lambda trial: trial.suggest_float("x", 0.0, 2.0) + trial.suggest_float("y", 0.0, 1.0), n_trials=5)
    assert len(study.trials) == 20


def test_single_values_and_small_spaces():
    def objective(trial):
        return trial.suggest_int("one", 4, 4) + trial.suggest_int("n", 0, 3) + trial.suggest_categorical("c", (0, 10))

    study = study_of(n_startup_trials=6)
    study.optimize(objective, n_trials=25)  # more than there are points
    assert study.best_value == 4 and len({tuple(trial.params.values()) for trial in study.trials[:9]}) >= 8


def test_several_objectives_are_refused():
    study = optuna.create_study(sampler=Sampler(), directions=["minimize", "maximize"])
    with pytest.raises(ValueError, match="study must have one objective for Sampler, got 2 directions"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 1.0), n_trials=1)


@pytest.mark.parametrize("bad", [{"n_trials": 0}, {"n_startup_trials": 0}, {"n_candidates": 0.5}, {"seed": -1}])
def test_bad_settings(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}|rng must be"):
        Sampler(**bad)


def test_threads():
    study = study_of(n_trials=100)
    study.optimize(mixed, n_trials=60, n_jobs=4)
    assert len(study.trials) == 60 and threading.active_count() < 20
    distinct = len({tuple(p.values()) for p in params(study)})
    assert distinct > 55  # threads get points of their own; now and then a trial is its parent, rounded


def test_a_study_goes_on_with_another_sampler(tmp_path):
    storage = journal(tmp_path / "study.log")
    study = optuna.create_study(storage=storage, study_name="s", sampler=Sampler(seed=1, n_trials=80))
    study.optimize(mixed, n_trials=40)
    before = sorted(values(study))
    again = optuna.load_study(storage=storage, study_name="s", sampler=Sampler(seed=1, n_trials=80))
    again.optimize(mixed, n_trials=40)
    known = again.sampler._search.optimizer.result
    assert len(again.trials) == 80 and known.fun <= before[0]
    assert np.median(values(again)[40:]) < np.median(before)  # it did not begin at the beginning


WORKER = """
import optuna, sys
from tests.optuna.test_sampler import journal
from tests.optuna.test_sampler import mixed
from deddqn.optuna import Sampler
optuna.logging.set_verbosity(optuna.logging.ERROR)
study = optuna.load_study(storage=journal(sys.argv[1]), study_name="s", sampler=Sampler(seed=1, n_trials=60))
study.optimize(mixed, n_trials=15)
"""


def test_processes_share_a_study(tmp_path):
    storage = journal(tmp_path / "study.log")
    optuna.create_study(storage=storage, study_name="s")
    command = [sys.executable, "-c", WORKER, str(tmp_path / "study.log")]
    workers = [subprocess.Popen(command, cwd=Path(__file__).parents[2]) for _ in range(2)]
    assert [worker.wait(timeout=120) for worker in workers] == [0, 0]
    study = optuna.load_study(storage=storage, study_name="s")
    distinct = len({tuple(p.values()) for p in params(study)})
    assert (
        len(study.trials) == 30 and distinct > 27
    )  # 15 if both made the same; now and then a trial is its parent, rounded


def test_samplers_can_be_pickled():
    study = study_of()
    study.optimize(mixed, n_trials=20)
    copy = pickle.loads(pickle.dumps(study.sampler))
    found = []
    for sampler in (study.sampler, copy):
        study.sampler = sampler
        trial = study.ask()
        mixed(trial)
        found.append(trial.params)
        study.tell(trial, state=optuna.trial.TrialState.FAIL)
    assert found[0]["x"] == found[1]["x"]
