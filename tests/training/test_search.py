"""Policy search: CMA-ES finds minima, and a search resumes where it stopped."""

import numpy as np
import pytest

from deddqn.de import EXTENDED, DEConfig
from deddqn.evaluation import evaluate_policies, rank_score
from deddqn.policies import load_policy, load_policy_file, save_softmax, softmax_policy
from deddqn.policies.softmax import N_INPUTS, prescreening_gate_of, weights_of
from deddqn.training.policy_search.cma_es import CMAES
from deddqn.training.policy_search.config import PolicySearchConfig
from deddqn.training.policy_search.search import PolicySearch, search_policy


def ellipsoid(points):
    return ((points * np.logspace(0, 1.5, points.shape[1])) ** 2).sum(axis=1)


def test_cma_es_finds_the_minimum_of_an_ellipsoid():
    cma = CMAES(np.ones(8), 0.5, 12, seed=1)
    for _ in range(300):
        points = cma.ask()
        cma.tell(points, ellipsoid(points))
    assert ellipsoid(cma.mean[None])[0] < 1e-10


def test_cma_es_draws_the_same_after_a_round_trip():
    cma, other = CMAES(np.ones(5), 0.5, 8, seed=1), CMAES(np.zeros(5), 9.0, 8, seed=1)
    for _ in range(5):
        points = cma.ask()
        cma.tell(points, ellipsoid(points))
    other.load_arrays(cma.to_arrays())
    np.testing.assert_array_equal(cma.ask(), other.ask())


SMALL = {
    "problems": ("cec2005:F1/d10", "cec2005:F6/d10"),
    "population_size": 12,
    "budget": 400,
    "offspring": 6,
    "evaluate_every": 2,
    "evaluate_repeats": 3,
    "reference_repeats": 3,
}


def test_a_search_resumes_where_it_stopped(tmp_path):
    search_policy(PolicySearchConfig(**SMALL, generations=6), tmp_path / "whole")
    search_policy(PolicySearchConfig(**SMALL, generations=3), tmp_path / "parts")
    search_policy(PolicySearchConfig(**SMALL, generations=6), tmp_path / "parts", resume=True)
    whole, parts = (
        PolicySearch(PolicySearchConfig(**SMALL), tmp_path / k, resume=True, quiet=True) for k in ("whole", "parts")
    )
    np.testing.assert_array_equal(whole.cma.mean, parts.cma.mean)
    for one in (whole, parts):
        one.close()
    policy = load_policy_file(tmp_path / "parts" / "softmax.safetensors")
    assert policy.metadata["kind"] == "softmax"
    assert policy.metadata["provenance"]["problems"] == list(SMALL["problems"])
    with pytest.raises(ValueError, match="sigma must be 1.0 to resume this search, got 2.0"):
        PolicySearch(PolicySearchConfig(**SMALL, sigma=2.0), tmp_path / "whole", resume=True)


@pytest.mark.slow
def test_a_search_finds_a_better_policy_than_its_start(tmp_path):
    """Judged on other seeds, 150 runs per problem; the standard error of a difference is about 0.02."""
    config = PolicySearchConfig(**{**SMALL, "offspring": 12, "repeats": 2}, generations=80)
    found = PolicySearch(config, tmp_path, quiet=True)
    found.run()
    started = softmax_policy(np.zeros((4, N_INPUTS)), max_dimension=10)
    ended = softmax_policy(**found._policy_at(found.cma.mean), max_dimension=10)
    settings = {**found._settings, "repeats": 150}
    before, after = (e.errors for e in evaluate_policies([started, ended], found.problems, **settings))
    assert rank_score(after, before) > 0.55  # 0.5 is as good


def test_a_pool_of_other_runs(tmp_path):
    """The columns of `deddqn export`; small errors are 0, other problems are left out."""
    names, path = SMALL["problems"], tmp_path / "runs.csv"
    rows = [(names[1], 3.0), (names[0], 5e-9), (names[1], 4.0), (names[0], 2.0), ("cec2005:F9/d10", 7.0)]
    path.write_text("method,problem,error\n" + "".join(f"de1,{name},{error}\n" for name, error in rows))
    search = PolicySearch(PolicySearchConfig(**SMALL, pool=str(path), generations=1), tmp_path / "a", quiet=True)
    search.run()
    assert search.references.tolist() == [[0.0, 2.0], [3.0, 4.0]]
    path.write_text(path.read_text() + f"de1,{names[0]},1.0\n")
    with pytest.raises(ValueError, match=r"pool must hold the same number of runs of every problem, got \[2, 3\]"):
        PolicySearch(PolicySearchConfig(**SMALL, pool=str(path)), tmp_path / "b", quiet=True).run()


def test_a_search_starts_from_a_policy(tmp_path):
    """The mean is the policy up to the weights of the first operator, which are 0: the probabilities are the same."""
    weights = np.random.default_rng(3).normal(size=(4, N_INPUTS))
    save_softmax(tmp_path / "mine.safetensors", weights)
    mine = {"start": str(tmp_path / "mine.safetensors")}
    started = PolicySearch(PolicySearchConfig(**SMALL, **mine), tmp_path / "a", quiet=True)
    first = started._policy_at(started.cma.mean)
    np.testing.assert_array_equal(first["weights"], weights - weights[0])
    assert set(first) == {"weights"}
    shipped = PolicySearch(PolicySearchConfig(**SMALL, start="softmax"), tmp_path / "b", quiet=True)
    table = weights_of(load_policy("softmax"))
    np.testing.assert_array_equal(shipped._policy_at(shipped.cma.mean)["weights"], table - table[0])
    assert not PolicySearch(PolicySearchConfig(**SMALL), tmp_path / "c", quiet=True).cma.mean.any()


def test_the_gate_is_searched_where_there_is_something_to_pick_from(tmp_path):
    prescreening_gate = np.arange(float(N_INPUTS))
    save_softmax(tmp_path / "mine.safetensors", np.zeros((4, N_INPUTS)), prescreening_gate=prescreening_gate)
    settings = {**SMALL, "n_candidates": 2, "start": str(tmp_path / "mine.safetensors"), "generations": 2}
    search = PolicySearch(PolicySearchConfig(**settings), tmp_path / "a", quiet=True)
    np.testing.assert_array_equal(search._policy_at(search.cma.mean)["prescreening_gate"], prescreening_gate)
    search.run()
    found = prescreening_gate_of(load_policy_file(tmp_path / "a" / "softmax.safetensors"))
    assert found is not None and found.shape == prescreening_gate.shape and not np.array_equal(found, prescreening_gate)
    anew = PolicySearch(PolicySearchConfig(**{**settings, "start": ""}), tmp_path / "b", quiet=True)
    np.testing.assert_array_equal(anew._policy_at(anew.cma.mean)["prescreening_gate"], [3.0] + [0.0] * (N_INPUTS - 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"start": "de1"}, "start must be a softmax policy, got 'de1'"),
        ({"start": "ddqn-r2"}, "start must be a softmax policy, got 'ddqn-r2'"),
        ({"start": "softmax", "portfolio": EXTENDED.values}, "start must have 12 operators, 'softmax' has others"),
        ({"start": "sofmax"}, "unknown policy 'sofmax'; did you mean 'softmax'"),
    ],
)
def test_a_search_cannot_start_from_just_anything(tmp_path, settings, message):
    with pytest.raises((ValueError, KeyError), match=message):
        PolicySearch(PolicySearchConfig(**SMALL, **settings), tmp_path, quiet=True)


def test_unknown_settings_suggest_a_neighbour():
    with pytest.raises(ValueError, match="unknown setting 'ofspring'; did you mean 'offspring'"):
        PolicySearchConfig.from_json({"preset": "softmax", "ofspring": 3})


def test_the_richer_portfolio_is_searched_by_its_preset(tmp_path):
    config = PolicySearchConfig.from_json({"preset": "softmax-x", **SMALL, "final_population": 8, "generations": 2})
    assert config.operators() == EXTENDED and config.de_config().final_population == 8
    assert PolicySearchConfig.from_json({"preset": "softmax-x"}).de_config() == DEConfig(**load_policy("softmax-x").de)
    assert PolicySearchConfig.from_json(config.to_json()) == config
    one = PolicySearch(config, tmp_path, quiet=True)
    one.run()
    assert one.references.shape == (2, 3 * 13)  # uniform, and each of the twelve alone
    assert one.cma.mean.size == 11 * 8 + 8  # differences of weights, and prescreening_gate
    policy = load_policy_file(tmp_path / "softmax.safetensors")
    own = {**load_policy("softmax-x").de, "population_size": 12, "final_population": 8}
    assert policy.portfolio == EXTENDED and policy.de == own


def test_the_number_of_candidates_is_searched_with_and_kept(tmp_path):
    """The candidates pick, the references do not; the file of the policy says how many trials it picks from."""
    settings = {**SMALL, "generations": 2}
    blind, seeing = (
        PolicySearch(
            PolicySearchConfig(**settings, n_candidates=n_candidates), tmp_path / str(n_candidates), quiet=True
        )
        for n_candidates in (1, 3)
    )
    for one in (blind, seeing):
        one.run()
    np.testing.assert_array_equal(blind.references, seeing.references)
    assert (blind.cma.mean != seeing.cma.mean[: blind.cma.mean.size]).any()
    policy = load_policy_file(tmp_path / "3" / "softmax.safetensors")
    assert policy.de == {"population_size": 12, "n_candidates": 3}
    assert load_policy_file(tmp_path / "1" / "softmax.safetensors").de == {"population_size": 12}
    assert PolicySearchConfig.from_json(seeing.config.to_json()) == seeing.config
    with pytest.raises(ValueError, match="n_candidates must be 3 to resume this search, got 2"):
        PolicySearch(PolicySearchConfig(**settings, n_candidates=2), tmp_path / "3", resume=True)


def test_a_generation_may_run_on_a_sample_of_the_problems(tmp_path):
    """Drawn for it; the candidates of a generation all run on the same ones, and resuming changes nothing."""
    settings = {**SMALL, "problems": (*SMALL["problems"], "cec2005:F6/d2", "cec2005:F8/d2"), "sample": 2}
    found = PolicySearch(PolicySearchConfig(**settings), tmp_path / "a", quiet=True)
    found.references, drawn = found._run_references(), []
    for _ in range(6):
        drawn.append(found._drawn().tolist())
        before = found.evaluations
        found.generation()
        assert found.evaluations - before <= 2 * settings["offspring"] * settings["budget"]
    assert all(len(numbers) == 2 and numbers == sorted(numbers) for numbers in drawn)
    assert len({tuple(numbers) for numbers in drawn}) > 2
    whole = PolicySearch(PolicySearchConfig(**{**settings, "sample": 9}), tmp_path / "b", quiet=True)
    assert whole._drawn().tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match="sample must be 0 or more, got -1"):
        PolicySearchConfig(sample=-1)


def test_what_is_kept_averages_the_means(tmp_path):
    """Over the last generations, with equal shares as long as there are fewer; a resumed search continues it."""
    whole = PolicySearch(
        PolicySearchConfig(**{**SMALL, "generations": 6, "mean_window": 3}), tmp_path / "a", quiet=True
    )
    average, means = np.zeros(whole.cma.mean.size), []
    whole.references = whole._run_references()
    while not whole.done:
        whole.generation()
        means.append(whole.cma.mean.copy())
        share = 1.0 / min(len(means), 3)
        average = (1 - share) * average + share * means[-1]
        if len(means) == 3:
            np.testing.assert_allclose(average, np.mean(means, axis=0))
    np.testing.assert_array_equal(whole.average, average)
    whole.validate()
    np.testing.assert_array_equal(
        weights_of(load_policy_file(tmp_path / "a" / "softmax.safetensors"))[1:].ravel(), average
    )
    first = PolicySearch(
        PolicySearchConfig(**{**SMALL, "generations": 2, "mean_window": 3}), tmp_path / "b", quiet=True
    )
    first.run()
    resumed = PolicySearch(
        PolicySearchConfig(**{**SMALL, "generations": 6, "mean_window": 3}), tmp_path / "b", quiet=True, resume=True
    )
    resumed.run()
    np.testing.assert_array_equal(resumed.average, average)


def test_a_portfolio_by_name():
    assert PolicySearchConfig.from_json({"portfolio": "extended"}).operators() == EXTENDED
    with pytest.raises(ValueError, match="portfolio must be one of 'paper', 'extended'; did you mean 'extended'"):
        PolicySearchConfig.from_json({"portfolio": "extende"})
    with pytest.raises(ValueError, match="preset must be one of 'softmax', 'softmax-x'.* got 'sofmax'"):
        PolicySearchConfig.from_json({"preset": "sofmax"})
    with pytest.raises(ValueError, match="final_population must be at most population_size"):
        PolicySearchConfig(final_population=200)


def test_problems_with_budgets_of_their_own(tmp_path):
    """Every run ends with the budget of its problem."""
    small = {**SMALL, "generations": 1, "problems": ("cec2005:F1/d10@300", "cec2005:F6/d10"), "evaluate_every": 1}
    search = PolicySearch(PolicySearchConfig(**small), tmp_path / "a", quiet=True)
    assert search.budgets == [300, 400] and [p.name for p in search.problems] == ["cec2005:F1/d10", "cec2005:F6/d10"]
    search.run()
    assert search.evaluations == SMALL["offspring"] * (300 + 400)
    ruled = PolicySearchConfig.from_json(
        {"preset": "softmax-budget", "problems": ["made:3@2000", "made:4@900"], "generations": 1, "offspring": 4}
        | {"reference_repeats": 1, "evaluate_repeats": 1}
    )
    search = PolicySearch(ruled, tmp_path / "b", quiet=True)
    search.run()
    found = load_policy_file(tmp_path / "b" / "softmax.safetensors")
    assert found.de["by_budget"] == load_policy("softmax-budget").de["by_budget"]
    assert search.evaluations == 4 * 2900


@pytest.mark.parametrize("name", ["made:3@", "made:3@0", "made:3@1e4", "made:3@-5", "@300", "made:3@" + "9" * 20, 3])
def test_wrong_budgets_of_problems_are_refused(name):
    with pytest.raises(ValueError, match=f"problems must look like .* or 'made:17/d23@40000', got {name!r}"):
        PolicySearchConfig(**{**SMALL, "problems": (name,)})


def test_problems_are_different_ones():
    with pytest.raises(ValueError, match="problems must be different ones, got"):
        PolicySearchConfig(**{**SMALL, "problems": ("made:3@300", "made:3@900")})
    with pytest.raises(ValueError, match="problems must be a sequence of names, got 'made:3@300'"):
        PolicySearchConfig(**{**SMALL, "problems": "made:3@300"})
