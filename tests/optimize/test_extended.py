"""Beyond the paper through all faces: one run for one seed, saved at any moment, with its policy's settings."""

import copy
import json

import numpy as np
import pytest
from safetensors.numpy import save_file

import deddqn
from deddqn import EXTENDED, DEConfig, Optimizer, Problem, RunSpec, VectorizedRuns, minimize
from deddqn.de.config import OWN_SETTINGS, config_for
from deddqn.policies import PolicyFileError, load_policy, save_softmax, softmax_policy
from deddqn.policies.files import read_policy_file
from deddqn.policies.softmax import N_INPUTS
from deddqn.problems import get
from tests.optimize.objectives import BOX, Learner, assert_same, bowl, by_ask_and_tell, jitted_bowl, random_network

WEIGHTS = np.random.default_rng(5).normal(size=(12, N_INPUTS))
RUN = {"portfolio": "extended", "maxfun": 420, "population_size": 30, "final_population": 8, "rng": 7}
RUNS = {"shrinking": RUN, "restarting": {**RUN, "restart_tolerance": 0.3, "restart_final_fraction": 0.3}}
MOVES = deddqn.Portfolio([("cma", 1.0, 1.0), ("curr-to-pbest/1", 0.5, 0.5, "F+CR"), ("rand/1", 0.5, 0.9)])
FORESIGHT = {**RUNS["restarting"], "portfolio": MOVES, "n_candidates": 3}


class Wrapped:
    """A compiled policy hidden in a Python object: the engine must drive both alike."""

    name, needs_features = "wrapped", True

    def __init__(self, inner=None):
        self.inner = softmax_policy(WEIGHTS, portfolio=EXTENDED) if inner is None else inner

    def __getattr__(self, name):
        if name in ("reset", "choose", "learn", "end_generation", "renumber"):
            return getattr(self.inner, name)
        raise AttributeError(name)


POLICIES = {
    "random": lambda: "random",
    "softmax": lambda: softmax_policy(WEIGHTS, portfolio=EXTENDED),
    "network": lambda: random_network(portfolio=EXTENDED),
    "python": Learner,
}


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS)
@pytest.mark.parametrize("kind", POLICIES)
def test_all_faces_give_the_same_run(kind, settings):
    make = POLICIES[kind]
    plain = minimize(bowl, BOX, policy=make(), history=True, **settings)
    assert plain.nfev == 420 and plain.population.shape == (8, 4) and plain.population_energies.shape == (8,)
    assert plain.history.nfev[-1] == 420 and plain.strategy_counts.size == 12
    assert_same(plain, minimize(jitted_bowl, BOX, policy=make(), history=True, **settings))
    assert_same(plain, by_ask_and_tell(Optimizer(BOX, policy=make(), history=True, **settings)))
    deferred = {**settings, "updating": "deferred"}
    one = minimize(bowl, BOX, policy=make(), **deferred)
    assert_same(one, by_ask_and_tell(Optimizer(BOX, policy=make(), **deferred)))
    assert_same(one, minimize(bowl, BOX, policy=make(), workers=map, **deferred))


@pytest.mark.parametrize("settings", RUNS.values(), ids=RUNS)
def test_lanes_and_python_policies_drive_the_same_run(settings):
    result = minimize(bowl, BOX, policy=softmax_policy(WEIGHTS, portfolio=EXTENDED), **settings)
    assert_same(result, minimize(bowl, BOX, policy=Wrapped(), **settings))
    names = ("population_size", "final_population", "restart_tolerance", "restart_final_fraction")
    config = DEConfig(budget=420, **{name: settings[name] for name in names if name in settings})
    spec = RunSpec(
        problem=Problem.from_function(bowl, BOX),
        policy=softmax_policy(WEIGHTS, portfolio=EXTENDED),
        portfolio=EXTENDED,
        config=config,
        seed=7,
    )
    lanes = VectorizedRuns([spec, spec], threads=2)
    lanes.advance()
    for episode in lanes.episodes:
        np.testing.assert_array_equal(episode.de_state.parents[:8], result.population)
        np.testing.assert_array_equal(episode.de_state.applications, result.strategy_counts)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("kind", ["random", "network", "python"])
def test_saved_at_any_moment(kind, updating, tmp_path):
    """Also in the middle of a shrunk population, and of a new one after a restart."""
    check_saving(POLICIES[kind], {**RUNS["restarting"], "updating": updating}, tmp_path / "search.npz")


def check_saving(make, options, path):
    """A search that is saved and loaded again and again ends as one that is not; Python policies have to be given."""
    expected = minimize(bowl, BOX, policy=make(), **options)
    optimizer, moments = Optimizer(BOX, policy=make(), **options), 0
    while not optimizer.stop():
        points = optimizer.ask(7)[::-1]
        for part in (points[:2], points[2:]):
            if len(part):
                optimizer.tell(part, [bowl(x) for x in part])
            if moments % 5 == 0:
                optimizer.save(path)
                policy = optimizer._run.spec.policy
                own = copy.deepcopy(policy) if isinstance(policy, Learner) else None  # files hold compiled ones
                optimizer = Optimizer.load(path, policy=own)
            moments += 1
    assert_same(expected, optimizer.result)


def picking():
    return softmax_policy(WEIGHTS[: len(MOVES)], portfolio=MOVES)


def test_all_faces_give_the_same_run_with_prescreening():
    plain = minimize(bowl, BOX, policy=picking(), history=True, **FORESIGHT)
    assert plain.nfev == 420 and plain.population.shape == (8, 4) and plain.strategy_counts.size == 3
    assert_same(plain, minimize(jitted_bowl, BOX, policy=picking(), history=True, **FORESIGHT))
    assert_same(plain, by_ask_and_tell(Optimizer(BOX, policy=picking(), history=True, **FORESIGHT)))
    deferred = {**FORESIGHT, "updating": "deferred"}
    one = minimize(bowl, BOX, policy=picking(), **deferred)
    assert_same(one, by_ask_and_tell(Optimizer(BOX, policy=picking(), **deferred)))
    assert_same(one, minimize(bowl, BOX, policy=picking(), workers=map, **deferred))


@pytest.mark.parametrize("kind", ["random", "network", "python", "wrapped"])
def test_policies_that_do_not_pick_have_one_trial(kind):
    """Also one that would, where it is hidden in a Python object."""
    make = {
        "random": lambda: "random",
        "network": lambda: random_network(portfolio=MOVES),
        "python": Learner,
        "wrapped": lambda: Wrapped(picking()),
    }[kind]
    one = {**FORESIGHT, "n_candidates": 1}
    assert_same(minimize(bowl, BOX, policy=make(), **FORESIGHT), minimize(bowl, BOX, policy=make(), **one))
    assert minimize(bowl, BOX, policy=picking(), **FORESIGHT).fun != minimize(bowl, BOX, policy=picking(), **one).fun


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
def test_saved_at_any_moment_with_prescreening(updating, tmp_path):
    """With the distribution of cma, and with the parents as the scores need them; and with a policy by name."""
    options = {**FORESIGHT, "updating": updating}
    check_saving(picking, options, tmp_path / "search.npz")
    check_saving(lambda: "softmax", {**options, "portfolio": "paper"}, tmp_path / "search.npz")


def test_prescreening_is_the_policys_own_unless_given(tmp_path):
    path = tmp_path / "x.safetensors"
    save_softmax(path, WEIGHTS[: len(MOVES)], portfolio=MOVES, de={"n_candidates": 3})
    assert load_policy(path).de == {"n_candidates": 3}
    settings = {"maxfun": 200, "population_size": 20, "rng": 3}
    own, three, one, four = (
        minimize(bowl, BOX, policy=path, n_candidates=given, **settings) for given in (None, 3, 1, np.int64(4))
    )
    assert_same(own, three)
    assert_same(three, minimize(bowl, BOX, policy=picking(), portfolio=MOVES, n_candidates=3.0, **settings))
    assert_same(one, minimize(bowl, BOX, policy=picking(), portfolio=MOVES, **settings))
    assert len({own.fun, one.fun, four.fun}) == 3
    with pytest.raises(ValueError, match="n_candidates must be at most 16, got 17"):
        save_softmax(path, WEIGHTS[: len(MOVES)], portfolio=MOVES, de={"n_candidates": 17})


def test_prescreening_in_commands(tmp_path, capsys):
    """`--n-candidates 3` gives the run of `minimize`."""
    from deddqn.cli import main

    path, target = tmp_path / "x.safetensors", tmp_path / "result.json"
    save_softmax(path, WEIGHTS[: len(MOVES)], portfolio=MOVES, de={"n_candidates": 2})
    options = ["--maxfun", "200", "--population-size", "20", "--seed", "3"]
    command = ["minimize", "cec2005:F6/d10", "--policy", str(path), *options]
    settings = {"policy": path, "maxfun": 200, "population_size": 20, "rng": 3}
    for given, n_candidates in ([], None), (["--n-candidates", "3"], 3), (["--n-candidates", "1"], 1):
        assert main([*command, *given, "--json", str(target)]) == 0
        found = json.loads(target.read_text())["fun"]
        assert found == minimize(get("cec2005:F6/d10"), n_candidates=n_candidates, **settings).fun
    capsys.readouterr()
    for wrong, message in (("0", "a whole number of at least 1, got 0"), ("17", "at most 16, got 17")):
        assert main([*command, "--n-candidates", wrong]) == 2
        assert f"n_candidates must be {message}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*command, "--n-candidates", "some"])


def saved(path, **changes):
    save_softmax(
        path, WEIGHTS, portfolio=EXTENDED, **{"de": {"population_size": 40, "final_population": 10}, **changes}
    )
    return path


def test_a_policy_brings_its_settings(tmp_path):
    path = saved(tmp_path / "x.safetensors")
    policy = load_policy(path)
    assert policy.de == {"population_size": 40, "final_population": 10} and policy.portfolio == EXTENDED
    own = minimize(bowl, BOX, policy=path, maxfun=2000, rng=1)
    said = {"population_size": 40, "final_population": 10, "portfolio": "extended"}
    assert_same(
        own, minimize(bowl, BOX, policy=softmax_policy(WEIGHTS, portfolio=EXTENDED), maxfun=2000, rng=1, **said)
    )
    assert own.population.shape == (10, 4)
    small = minimize(bowl, BOX, policy=path, maxfun=300, rng=1, population_size=8)
    assert small.population.shape == (8, 4)
    other = minimize(bowl, BOX, policy=path, maxfun=300, rng=1, final_population=20)
    assert other.population.shape == (20, 4)
    polished = minimize(bowl, BOX, policy=path, maxfun=44, rng=1, polish=True)
    assert polished.nfev <= 44


def test_wrong_settings_in_a_policy_are_refused(tmp_path):
    for de, message in (
        ({"budget": 5}, "a setting of the policy must be one of 'population_size', .* got 'budget'"),
        ({"final_population": 200}, r"final_population must be at most population_size \(100\), got 200"),
    ):
        with pytest.raises(ValueError, match=message):
            saved(tmp_path / "x.safetensors", de=de)
        assert not (tmp_path / "x.safetensors").exists()
    path = saved(tmp_path / "x.safetensors")
    tensors, outcome = read_policy_file(path)
    save_file(tensors, path, metadata={"deddqn": json.dumps({**outcome, "de": {"pbest": 7}})})
    with pytest.raises(PolicyFileError, match=r"pbest must lie in \(0, 1\], got 7"):
        load_policy(path)


def test_a_network_keeps_its_settings_when_it_is_saved_with_a_search(tmp_path):
    from deddqn.policies import network_policy
    from deddqn.policies.policy_arrays import packed, unpacked

    plain = random_network(portfolio=EXTENDED)
    layers = [(np.zeros((12, 259)), np.zeros(12))]
    policy = network_policy(*zip(*layers, strict=True), portfolio=EXTENDED, de={"final_population": 10})
    again = unpacked(packed(policy))
    assert again.de == {"final_population": 10} and again.portfolio == EXTENDED
    assert unpacked(packed(plain)).de == {}


def test_settings_of_a_policy_and_those_given():
    assert DEConfig(budget=7, updating="deferred").own_settings() == {}
    assert DEConfig(repair="reflect").own_settings() == {"repair": "reflect"}
    own = DEConfig(
        population_size=40,
        final_population=10,
        pbest=0.2,
        archive=2.0,
        restart_tolerance=0.1,
        restart_final_fraction=0.2,
        rate_share=0.5,
        repair="midpoint",
        n_candidates=4,
        crossover_kind="exponential",
        dither=0.3,
        cma_share=0.25,
        cma_extent=0.5,
        local_share=0.2,
        by_budget="archive",
    ).own_settings()
    assert tuple(own) == OWN_SETTINGS
    assert config_for(own, budget=5) == DEConfig(**own, budget=5)
    assert config_for(own, population_size=8).final_population == 8
    assert config_for(own, final_population=None).final_population is None


def test_f_and_cr_that_are_given_do_not_adapt():
    entry = deddqn.Operator("rand/1", 0.5, 0.9, "F+CR")
    assert entry.with_constants() == entry
    assert entry.with_constants(scale=0.7) == deddqn.Operator("rand/1", 0.7, 0.9, "CR")
    assert entry.with_constants(0.7, 0.2) == deddqn.Operator("rand/1", 0.7, 0.2)
    assert EXTENDED.names[0] == "curr-to-pbest/1 F~0.5 CR~0.9" and EXTENDED.names[-1] == "gauss"
    assert deddqn.Portfolio(EXTENDED.values) == EXTENDED and len(set(EXTENDED.names)) == len(EXTENDED) == 12


def test_the_best_policy_gives_way_to_another_portfolio():
    paper = minimize(bowl, BOX, **{**RUN, "portfolio": "paper"})
    assert paper.policy == "random" and len(paper.strategies) == 4
    own = minimize(bowl, BOX, **RUN)
    assert own.policy == "softmax-budget" and len(own.strategies) == 12
