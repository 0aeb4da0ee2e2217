"""`Sampler`: Differential Evolution for studies of Optuna."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from typing import Any

from optuna.distributions import BaseDistribution
from optuna.samplers import BaseSampler, RandomSampler
from optuna.search_space import IntersectionSearchSpace
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, TrialState

from deddqn.optimize.arguments import root_seed, whole_number
from deddqn.optuna.encoding import Encoding
from deddqn.optuna.study_search import FinishedTrial, Settings, StudySearch

FINISHED = (TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL)
FIXED = "fixed_params"  # where Optuna keeps what was enqueued


class Sampler(BaseSampler):
    """Differential Evolution with pre-screening, as a sampler of Optuna.

    Parameters that all finished trials have in common are searched together; others (conditional ones, and all of the
    first trial) come from `independent_sampler`. The search lives in this object and takes whatever the study knows:
    trials of other processes, enqueued trials and trials of an earlier session are points from elsewhere. So nothing is
    stored in the study, and a sampler that meets a study with finished trials begins with the best of them.

    Parameters
    ----------
    n_trials : for how many trials the search is planned; beyond, a study is planned anew for twice as many.
    n_startup_trials : trials of the first design, which are also the first population.
    n_candidates : candidates per trial, of which the surrogate selects one.
    seed : the same seed gives the same trials, if trials finish in the same order.
    independent_sampler : for parameters that are not searched together; `RandomSampler` by default.
    """

    def __init__(
        self,
        *,
        n_trials: int = 200,
        n_startup_trials: int | None = None,
        n_candidates: int = 16,
        seed: int | None = None,
        independent_sampler: BaseSampler | None = None,
    ) -> None:
        startup = None if n_startup_trials is None else whole_number("n_startup_trials", n_startup_trials, 1)
        self._settings = Settings(
            whole_number("n_trials", n_trials, 1), startup, whole_number("n_candidates", n_candidates, 1)
        )
        self._seed = root_seed(seed, None)
        self._independent = independent_sampler or RandomSampler(seed=self._seed % 2**32)
        self._common = IntersectionSearchSpace(include_pruned=True)
        self._search: StudySearch | None = None
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def reseed_rng(self) -> None:
        """For threads, which share this sampler: only what is sampled independently needs other numbers."""
        self._independent.reseed_rng()

    def infer_relative_search_space(self, study: Study, trial: FrozenTrial) -> dict[str, BaseDistribution]:
        """The parameters of all finished trials, except those with a single value."""
        if len(study.directions) != 1:
            raise ValueError(f"study must have one objective for {self}, got {len(study.directions)} directions")
        with self._lock:
            common = self._common.calculate(study)
        return {name: distribution for name, distribution in common.items() if not distribution.single()}

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        """The next trial of the search; nothing for an enqueued trial, whose values are not ours."""
        if not search_space or trial.system_attrs.get(FIXED):
            return {}
        with self._lock:
            finished = study.get_trials(deepcopy=False, states=FINISHED)
            if self._search is None or self._search.encoding.space != search_space:
                self._search = StudySearch(Encoding(search_space), self._settings, self._seed)
            return self._search.ask(trial.number, [_finished(each, study.direction) for each in finished])

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        """A parameter that is not searched."""
        return self._independent.sample_independent(study, trial, param_name, param_distribution)

    def before_trial(self, study: Study, trial: FrozenTrial) -> None:
        """Nothing but for the independent sampler."""
        self._independent.before_trial(study, trial)

    def after_trial(self, study: Study, trial: FrozenTrial, state: TrialState, values: Sequence[float] | None) -> None:
        """Nothing but for the independent sampler: values are read from the study."""
        self._independent.after_trial(study, trial, state, values)


def _finished(trial: FrozenTrial, direction: StudyDirection) -> FinishedTrial:
    """A trial as the search sees it: a pruned one has its last intermediate value, a failed one none."""
    value = None
    if trial.state == TrialState.COMPLETE:
        value = trial.value
    elif trial.state == TrialState.PRUNED and trial.intermediate_values:
        value = trial.intermediate_values[max(trial.intermediate_values)]
    if value is None or math.isnan(value):
        value = math.inf
    elif direction == StudyDirection.MAXIMIZE:
        value = -value
    return FinishedTrial(trial.number, trial.params, trial.distributions, value)
