"""The compiled engine against arithmetic done by hand: every strategy, repair, feature group and reward."""

from __future__ import annotations

import pytest

from tests.reference.engine_adapter import EngineRun
from tests.reference.hand_cases import RUN_CASES, TRIAL_CASES, RunCase, TrialCase
from tests.reference.replay import check_run_case, check_trial_case


@pytest.mark.parametrize("case", TRIAL_CASES, ids=lambda case: case.name)
def test_trial_by_hand(case: TrialCase) -> None:
    check_trial_case(EngineRun, case)


@pytest.mark.parametrize("case", RUN_CASES, ids=lambda case: case.name)
def test_run_by_hand(case: RunCase) -> None:
    check_run_case(EngineRun, case)
