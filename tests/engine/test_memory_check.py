"""Memory that comes from a file: every field declares what it may hold, and what it may not hold is refused."""

import numpy as np
import pytest

from deddqn import Optimizer
from deddqn._jit.contents import UNDECLARED
from deddqn._jit.structs import Layout
from deddqn.de.cma_state import Model
from deddqn.de.config import DEConfig
from deddqn.de.portfolio import EXTENDED, PAPER, Portfolio
from deddqn.de.state import Counter, Scalar
from deddqn.engine.memory_check import check_arena
from deddqn.engine.run import Run
from deddqn.engine.run_memory import Link, view_run
from deddqn.engine.run_spec import RunSpec
from deddqn.features.buffers import Tally
from deddqn.policies.registry import load_policy, policy_names
from deddqn.problems.problem import Problem

WITH_CMA = Portfolio([*EXTENDED.values, ("cma", 1.0, 1.0)])


def test_every_field_and_slot_declares_what_it_may_hold():
    for layout in Layout.registry.values():
        for field in layout.fields:
            assert field.holds is not None, f"{layout.name}.{field.name} must declare holds=..., see _jit/contents.py"
            for slot, (_, contents) in (field.holds.members or {}).items():
                assert contents is not UNDECLARED, f"{layout.name}.{field.name}[{slot}] must declare what it may hold"


def test_every_policy_with_a_memory_declares_what_it_may_hold():
    for name in policy_names():
        policy = load_policy(name)
        n_ops = len(policy.portfolio or PAPER)
        size = policy.memory_size(n_ops, 20)
        parts = policy.memory_parts(policy.setup, n_ops, 20) if policy.memory_parts else []
        assert sum(part[1] for part in parts) <= size and (parts or size == 0), name


def bowl(x):
    return float(np.sum(x * x))


def search(policy="random", portfolio=None, evaluations=150, **options):
    """A search of a few generations, stopped inside of one."""
    optimizer = Optimizer([(-5, 5)] * 3, policy=policy, portfolio=portfolio, maxfun=400, rng=3, **options)
    while optimizer.result.nfev < evaluations and not optimizer.stop():
        points = optimizer.ask(7) if options.get("updating") == "deferred" else optimizer.ask()
        optimizer.tell(points, [bowl(x) for x in points])
    return optimizer._run


SEARCHES = {
    "paper": {},
    "deferred": {"updating": "deferred"},
    "network": {"policy": "ddqn"},
    "network deferred": {"policy": "ddqn", "updating": "deferred"},
    "softmax-x": {"policy": "softmax-x"},
    "pm-adapss": {"policy": "pm-adapss"},
    "f-auc": {"policy": "f-auc"},
    "rec-pm": {"policy": "rec-pm"},
    "cma": {"portfolio": WITH_CMA, "restart_tolerance": 0.1, "restart_final_fraction": 0.3, "population_size": 20},
    "shrinking": {"portfolio": "extended", "population_size": 40, "final_population": 8, "n_candidates": 3},
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("evaluations", [0, 3, 150, 390, 400])
def test_memory_of_real_searches_passes(name, evaluations):
    run = search(evaluations=evaluations, **SEARCHES[name])
    check_arena(run.spec, run.arena)


WRONG = [
    *(("counters", slot, value) for slot in Counter for value in (-1, 2**62)),
    ("scalars", Scalar.PBEST, 2.0),
    ("scalars", Scalar.F_BSF, np.nan),
    ("model", Model.SAMPLES, 1e6),
    ("model", Model.LAMBDA, 1.5),
    ("model", Model.COLLECTED, -5.0),
    ("order", 0, 10**6),
    ("order", 1, -1),
    ("choices", 0, 99),
    ("donors", (0, 0), 10**9),
    ("told", 0, 2),
    ("strategy", 0, 70),
    ("adapts", 0, 5),
    ("memory_f", (0, 0), np.nan),
    ("memory_f", (0, 0), -1e300),
    ("memory_f", (0, 0), 0.0),
    ("fitness", 0, np.nan),
    ("parents", (0, 0), np.inf),
    ("origin", 0, -2),
    ("model_order", 0, 10**7),
]


@pytest.mark.parametrize(("field", "slot", "value"), WRONG, ids=str)
def test_wrong_numbers_are_refused(field, slot, value):
    run = search(**SEARCHES["cma"])
    getattr(run.de_state, field)[slot] = value
    with pytest.raises(ValueError, match=f"{field}|breaks the rule"):
        check_arena(run.spec, run.arena)


def test_an_order_is_a_permutation():
    run = search(**SEARCHES["cma"])
    run.de_state.order[0] = run.de_state.order[1]
    with pytest.raises(ValueError, match="order must hold an order of"):
        check_arena(run.spec, run.arena)


@pytest.mark.parametrize(("slot", "value"), [(Tally.IN_WINDOW, 51), (Tally.N_OPS, 5), (Tally.GENERATIONS, 1000)])
def test_wrong_tallies_are_refused(slot, value):
    run = search(policy="ddqn")
    run.observer.tallies[slot] = value
    with pytest.raises(ValueError, match="tallies"):
        check_arena(run.spec, run.arena)


def test_wrong_operators_in_the_window_are_refused():
    for value in (-1, 4, 10**9):
        run = search(policy="ddqn")
        run.observer.window_op[0] = value
        with pytest.raises(ValueError, match="window"):
            check_arena(run.spec, run.arena)


@pytest.mark.parametrize("name", ["softmax-x", "pm-adapss", "f-auc", "rec-pm"])
def test_what_policies_have_learned_is_checked(name):
    refused = 0
    run = search(policy=name)
    for k in range(run.core.memory.size):
        for value in (1e15, -3.0, np.nan):
            kept, run.core.memory[k] = run.core.memory[k], value
            try:
                check_arena(run.spec, run.arena)
                run.core.memory[k] = kept
            except ValueError:
                refused += 1
            run.core.memory[k] = kept
    assert refused > run.core.memory.size / 2
    run.core.memory[0 if name != "softmax-x" else 7] += 1  # K, or NP
    with pytest.raises(ValueError, match=f"memory of {name}"):
        check_arena(run.spec, run.arena)


class Chooser:
    """A policy in Python."""

    name, needs_features = "own", False

    def reset(self, n_ops, n_pop, rng):
        pass

    def choose(self, features, i):
        return 0

    def learn(self, i, op, f_parent, f_trial, f_bsf, f_wsf, reward):
        pass

    def end_generation(self):
        pass


def test_addresses_in_a_file_are_never_called():
    spec = RunSpec(
        problem=Problem.from_function(bowl, [(-1, 1)] * 2), policy=Chooser(), config=DEConfig(population_size=8)
    )
    run = Run(spec)
    for link in Link:
        if link not in (Link.DE_STATE, Link.OBSERVER):
            run.core.links[link] = 0xDEAD0
    resumed = Run.resume(spec, run.arena)
    assert not (view_run(resumed.arena).core.links == 0xDEAD0).any()
    resumed.advance(30)
    assert resumed.evaluations == 30
