"""Saved at any moment and continued elsewhere, a search ends as one that was not interrupted."""

import copy
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

import deddqn
from deddqn import Optimizer, Problem, minimize
from deddqn._utils.plain_json import CHECKSUM, checksum
from deddqn._utils.reading import array_parts
from deddqn.policies import CompiledPolicy, load_policy, save_policy
from deddqn.policies.mlp import N_LAYERS, WIDTHS
from deddqn.policies.policy_kernels import PolicyKernels
from deddqn.problems import get
from tests.optimize.objectives import (
    BOX,
    POLICIES,
    SMALL,
    Learner,
    assert_same,
    bowl,
    by_ask_and_tell,
    jitted_bowl,
    many_bowls,
    random_network,
)


def through_pickle(optimizer, path):
    return pickle.loads(pickle.dumps(optimizer))


def through_file(optimizer, path):
    optimizer.save(path)
    own = optimizer._run.spec.policy if isinstance(optimizer._run.spec.policy, Learner) else None
    return Optimizer.load(path, policy=copy.deepcopy(own))


WAYS = {"pickle": through_pickle, "deepcopy": lambda optimizer, path: copy.deepcopy(optimizer), "file": through_file}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("kind", POLICIES)
def test_at_any_moment(kind, updating, way, tmp_path):
    """Handed on before and after every ask and every tell, in parts and out of order, with a history."""
    options = {**SMALL, "updating": updating, "history": True, "policy": POLICIES[kind]()}
    expected = minimize(bowl, BOX, **options)
    optimizer, move = Optimizer(BOX, **{**options, "policy": POLICIES[kind]()}), WAYS[way]
    path, moments = tmp_path / "search.npz", 0
    while not optimizer.stop():
        points = optimizer.ask(7)[::-1]
        if moments % 3 == 0 or updating == "deferred":
            optimizer = move(optimizer, path)
        for part in (points[:2], points[2:]):
            if len(part):
                optimizer.tell(part, [bowl(x) for x in part])
        if moments % 5 == 0:
            optimizer = move(optimizer, path)
        moments += 1
    assert_same(optimizer.result, expected)
    assert_same(move(optimizer, path).result, expected)


def test_before_anything_happened(tmp_path):
    optimizer = Optimizer(BOX, x0=[1, 1, 1, 1], init="sobol", history=True, **SMALL)
    expected = copy.deepcopy(optimizer).optimize(bowl)
    assert_same(through_file(optimizer, tmp_path / "s").optimize(bowl), expected)


def test_asked_points_may_be_told_or_asked_again_after_loading(tmp_path):
    optimizer = Optimizer(BOX, updating="deferred", **SMALL)
    points = optimizer.ask(5)
    loaded = through_file(optimizer, tmp_path / "s")
    assert np.array_equal(loaded.ask(5), points)  # whoever had them may be gone
    loaded.tell(points, [bowl(x) for x in points])
    with pytest.raises(ValueError, match="be told once"):
        loaded.tell(points, [bowl(x) for x in points])
    with pytest.raises(ValueError, match="must come from ask"):
        through_file(loaded, tmp_path / "s").tell(loaded.ask(1), [0.0])
    assert_same(
        by_ask_and_tell(through_file(loaded, tmp_path / "s")), minimize(bowl, BOX, updating="deferred", **SMALL)
    )


@pytest.mark.parametrize("at", [1, 20, 21, 50, 129])
@pytest.mark.parametrize("way", [{}, {"updating": "deferred"}, {"updating": "deferred", "workers": map}])
def test_interrupted_inside_of_a_generation(at, way, tmp_path):
    workers = way.get("workers", 1)
    options = {**SMALL, **{k: v for k, v in way.items() if k != "workers"}, "history": True}
    calls = 0

    def interrupted(x):
        nonlocal calls
        calls += 1
        if calls == at:
            raise KeyboardInterrupt
        return bowl(x)

    optimizer = Optimizer(BOX, policy=random_network(), **options)
    with pytest.raises(KeyboardInterrupt):
        optimizer.optimize(interrupted, workers=workers)
    loaded = through_file(optimizer, tmp_path / "s")
    assert_same(loaded.optimize(interrupted, workers=workers), minimize(bowl, BOX, policy=random_network(), **options))
    assert calls == 131


def test_with_another_kind_of_function_after_loading(tmp_path):
    options = {**SMALL, "updating": "deferred"}
    expected = minimize(bowl, BOX, **options)
    for fun, way in ((jitted_bowl, {}), (many_bowls, {"vectorized": True}), (bowl, {"workers": 2})):
        optimizer = Optimizer(BOX, **options)
        optimizer.optimize(bowl, callback=lambda xk, convergence: True)
        assert_same(through_file(optimizer, tmp_path / "s").optimize(fun, **way), expected)


def test_limits_are_kept(tmp_path):
    optimizer = Optimizer(BOX, maxiter=3, ftarget=-1.0, tol=1e-9, atol=1e-12, **SMALL)
    optimizer.optimize(bowl, callback=lambda xk, convergence: True)
    loaded = through_file(optimizer, tmp_path / "s")
    assert optimizer.stop() == {"callback": "The callback asked to stop."} and loaded.stop() == {}
    assert_same(loaded.optimize(bowl), minimize(bowl, BOX, maxiter=3, ftarget=-1.0, tol=1e-9, atol=1e-12, **SMALL))
    assert loaded.result.nit == 3 and loaded.seed == 7 and loaded.maxfun == 130


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("name", ["cec2005:F9/d10", "cec2005:F4/d10", "cec2005:F18/d10"])
def test_problems_of_the_package_are_saved_by_name(name, updating, tmp_path):
    options = {"maxfun": 350, "rng": 2, "updating": updating}
    for noise in (True, False):
        optimizer = Optimizer(get(name, noise=noise), **options)
        optimizer.optimize(callback=lambda xk, convergence: True)
        assert_same(through_file(optimizer, tmp_path / "s").optimize(), minimize(get(name, noise=noise), **options))


def test_own_problems_are_saved_as_a_box(tmp_path):
    problem = Problem.from_function(bowl, BOX, name="mine", optimum=0.0)
    optimizer = Optimizer(problem, **SMALL)
    optimizer.optimize(callback=lambda xk, convergence: True)
    loaded = through_file(optimizer, tmp_path / "s")
    with pytest.raises(ValueError, match="fun must be given"):
        loaded.optimize()
    for fun in (bowl, problem):
        assert_same(through_file(optimizer, tmp_path / "s").optimize(fun), minimize(problem, **SMALL))
    # a function of one's own on the box of a problem of the package does not become that problem
    optimizer = Optimizer(get("cec2005:F18/d10"), **SMALL)
    optimizer.optimize(bowl, callback=lambda xk, convergence: True)
    loaded = through_file(optimizer, tmp_path / "s")
    with pytest.raises(ValueError, match="fun must be given"):
        loaded.optimize()
    assert_same(loaded.optimize(bowl), Optimizer(get("cec2005:F18/d10"), **SMALL).optimize(bowl))


def test_policy_files_may_move(tmp_path):
    rng = np.random.default_rng(0)
    weights, biases = [rng.standard_normal((4, 99)).astype(np.float32)], [np.zeros(4, dtype=np.float32)]
    save_policy(tmp_path / "own.safetensors", weights, biases, name="own")
    optimizer = Optimizer(BOX, policy=tmp_path / "own.safetensors", **SMALL)
    expected = copy.deepcopy(optimizer).optimize(bowl)
    optimizer.optimize(bowl, callback=lambda xk, convergence: True)
    optimizer.save(tmp_path / "s")
    (tmp_path / "own.safetensors").unlink()
    loaded = Optimizer.load(tmp_path / "s")
    assert loaded.result.policy == "own"
    assert_same(loaded.optimize(bowl), expected)


@njit
def choose_every_other(setup, memory, features, stream, n_ops, i):
    return (i + int(setup[0])) % n_ops


def test_own_compiled_policies_are_given_again(tmp_path):
    def own(shift):
        return CompiledPolicy("own", PolicyKernels(choose_every_other), setup=np.array([shift]))

    optimizer = Optimizer(BOX, policy=own(1.0), **SMALL)
    expected = copy.deepcopy(optimizer).optimize(bowl)
    optimizer.save(tmp_path / "s")
    assert_same(Optimizer.load(tmp_path / "s", policy=own(1.0)).optimize(bowl), expected)
    with pytest.raises(ValueError, match="policy must be given"):
        Optimizer.load(tmp_path / "s")
    for wrong in (own(2.0), load_policy("random"), Learner()):
        with pytest.raises(ValueError, match="policy must be the one that the search was made with, got"):
            Optimizer.load(tmp_path / "s", policy=wrong)
    Optimizer(BOX, **SMALL).save(tmp_path / "s")
    with pytest.raises(ValueError, match="policy must be left out: the file holds"):
        Optimizer.load(tmp_path / "s", policy=load_policy("de1"))


@pytest.mark.parametrize("name", deddqn.policies.policy_names())
def test_every_policy_of_the_package(name, tmp_path):
    """Those that learn within a run, too: what they learned is in the memory of the run."""
    expected = minimize(bowl, BOX, policy=name, **SMALL)
    optimizer = Optimizer(BOX, policy=name, **SMALL)
    optimizer.optimize(bowl, callback=lambda intermediate_result: intermediate_result.nit == 3)
    optimizer.tell(optimizer.ask(), 100.0)
    for loaded in (through_pickle(optimizer, None), through_file(optimizer, tmp_path / "s")):
        assert_same(loaded.optimize(bowl), copy.deepcopy(optimizer).optimize(bowl))
        assert loaded.result.policy == expected.policy


def test_settings_of_every_type_can_be_saved(tmp_path):
    optimizer = Optimizer(
        BOX,
        portfolio=[deddqn.Operator("rand/1", np.float32(0.5), 1), "rand/2"],
        scale=np.float32(0.7),
        ftarget=np.float32(-3),
        tol=np.int64(0),
        maxiter=np.int8(100),
        maxfun=np.uint16(130),
        population_size=np.int64(20),
        rng=np.random.SeedSequence(4),
        repair=np.str_("reflect"),
    )
    expected = copy.deepcopy(optimizer).optimize(bowl)
    assert_same(through_file(optimizer, tmp_path / "s").optimize(bowl), expected)


CONTINUE = """
    import sys, pickle
    from tests.optimize.objectives import bowl
    from deddqn import Optimizer
    kind, source, target = sys.argv[1:]
    optimizer = pickle.load(open(source, "rb")) if kind == "pickle" else Optimizer.load(source)
    result = optimizer.optimize(bowl)
    pickle.dump(result, open(target, "wb"))
"""


@pytest.mark.parametrize("kind", ["pickle", "file"])
def test_in_another_process(kind, tmp_path):
    policy = Learner if kind == "pickle" else random_network
    optimizer = Optimizer(BOX, policy=policy(), updating="deferred", history=True, **SMALL)
    optimizer.optimize(bowl, callback=lambda xk, convergence: True)
    points = optimizer.ask(9)[3:]
    optimizer.tell(points, [bowl(x) for x in points])
    source, target = tmp_path / "source", tmp_path / "target"
    if kind == "pickle":
        source.write_bytes(pickle.dumps(optimizer))
    else:
        optimizer.save(source)
    command = [sys.executable, "-c", textwrap.dedent(CONTINUE), kind, str(source), str(target)]
    subprocess.run(command, check=True, timeout=120)
    expected = minimize(bowl, BOX, policy=policy(), updating="deferred", history=True, **SMALL)
    assert_same(pickle.loads(target.read_bytes()), expected)


# Files that are not whole


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("saved") / "search.npz"
    optimizer = Optimizer(BOX, policy=random_network(), history=True, **SMALL)
    optimizer.optimize(bowl, callback=lambda xk, convergence: True)
    optimizer.save(path)
    return path


def test_a_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError):
        Optimizer.load(tmp_path / "nothing")
    with pytest.raises(FileNotFoundError):
        Optimizer(BOX, **SMALL).save(tmp_path / "no" / "folder")


@pytest.mark.parametrize("content", [b"", b"hello", b"PK\x03\x04", b"\x93NUMPY", pickle.dumps({"a": 1})])
def test_foreign_files(content, tmp_path):
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(ValueError, match=r"s is not a whole saved search: "):
        Optimizer.load(tmp_path / "s")
    with pytest.raises(ValueError, match="is not a whole saved search"):
        Optimizer.load(tmp_path)


def test_foreign_archives(tmp_path):
    path = tmp_path / "s.npz"
    for arrays in (
        {"x": np.ones(3)},
        {"description": np.array("[]")},
        {"description": np.array("{")},
        {"description": np.array("{}")},
        {"description": np.array(json.dumps({"format": "deddqn-search-99"}))},
        {"description": np.array(json.dumps({"format": "deddqn-search-2"})), "arena": np.ones(4)},
    ):
        np.savez(path, **arrays)
        with pytest.raises(ValueError, match="is not a whole saved search"):
            Optimizer.load(path)


def test_truncated_files(saved, tmp_path):
    whole = saved.read_bytes()
    for length in {0, 1, 10, 100, len(whole) // 2, len(whole) - 100, len(whole) - 1}:
        (tmp_path / "s").write_bytes(whole[:length])
        with pytest.raises(ValueError, match="is not a whole saved search"):
            Optimizer.load(tmp_path / "s")


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_damaged_files_are_refused_or_harmless(saved, data):
    content = bytearray(saved.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1) | st.integers(len(content) - 700, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    damaged = saved.with_name("damaged")
    damaged.write_bytes(content)
    try:
        loaded = Optimizer.load(damaged)
    except ValueError as error:
        assert "is not a whole saved search" in str(error) or "policy" in str(error)
    else:  # a byte that means nothing, such as a time stamp
        assert_same(loaded.optimize(bowl), Optimizer.load(saved).optimize(bowl))


def rewritten(saved, path, **changes):
    """A whole file with other contents, and the checksum of these."""
    with np.load(saved) as file:
        arrays = dict(file)
    outcome = json.loads(str(arrays.pop("description")))
    del outcome[CHECKSUM]
    for key, value in changes.items():
        if key in arrays:
            arrays[key] = value(arrays[key].copy())
        else:
            outcome[key] = value(outcome[key])
    outcome[CHECKSUM] = checksum(outcome, *array_parts(arrays))
    np.savez(path, **arrays, description=np.array(json.dumps(outcome)))
    return path.with_suffix(".npz")


def with_value(setup, slot, value):
    setup[slot] = value
    return setup


def poisoned(arena, slot, value):
    arena.view(np.int64)[slot] = value
    return arena


@pytest.mark.parametrize(
    "changes",
    [
        {"arena": lambda a: a[:-1]},
        {"arena": lambda a: poisoned(a, 0, 10**12)},  # a table that points out of the memory
        {"arena": lambda a: poisoned(a, 4, -5)},
        {"arena": lambda a: a.reshape(1, -1)},
        {"config": lambda c: {**c, "population_size": 21}},
        {"config": lambda c: {**c, "population_size": "x"}},
        {"config": lambda c: {**c, "new": 1}},
        {"portfolio": lambda p: p[:2]},
        {"portfolio": lambda p: None},
        {"problem": lambda p: {**p, "bounds": [[0, 1]] * 3}},
        {"limits": lambda limits: {}},
        {"policy": lambda p: {**p, "kind": "other"}},
        {"policy": lambda p: 3},
        {"policy.setup": lambda s: s[:-8]},
        {"seed": lambda s: -1},
        {"seed": lambda s: 1.5},
        {"config": lambda c: {**c, "population_size": 10**15}},
        {"config": lambda c: {**c, "n_candidates": 10**15}},
        {"problem": lambda p: {**p, "work_size": 10**15}},
        {"problem": lambda p: {**p, "work_size": -1}},
        {"problem": lambda p: {**p, "bounds": [[0, 1, 2]] * 4}},
        {"problem": lambda p: {**p, "registered": True}},
        {"problem": lambda p: {**p, "registered": True, "name": "bbob:f1/i1/d1000000"}},
        {"problem": lambda p: {**p, "name": "\x1b[2J"}},
        {"policy": lambda p: {"name": "/etc/passwd", "digest": "0"}},
        {"policy": lambda p: {"name": "f-auc:window=1000000000000", "digest": "0"}},
        {"policy": lambda p: {**p, "portfolio": p["portfolio"][:3]}},
        {"policy": lambda p: {**p, "portfolio": None}},
        {"policy": lambda p: {**p, "max_dimension": 0}},
        {"policy": lambda p: {**p, "name": 3}},
        {"policy": lambda p: {**p, "kind": "fixed"}},
        {"policy": lambda p: {**p, "kind": "softmax"}},
        {"policy.setup": lambda s: with_value(s, WIDTHS, 7.0)},
        {"policy.setup": lambda s: with_value(s, WIDTHS + 1, 5.0)},
        {"policy.setup": lambda s: with_value(s, WIDTHS + 1, 1e18)},
        {"policy.setup": lambda s: with_value(s, N_LAYERS, 1e9)},
        {"policy.setup": lambda s: with_value(s, N_LAYERS, np.nan)},
        {"policy.setup": lambda s: with_value(s, -1, np.inf)},
        {"limits": lambda limits: {**limits, "maxiter": 0}},
        {"limits": lambda limits: {**limits, "tol": float("nan")}},
        {"asked": lambda asked: [10**6]},
        {"asked": lambda asked: [-1]},
        {"history.fun": lambda rows: rows[:-1]},
        {"history.strategy_counts": lambda rows: rows[:, :2]},
        {"history.nfev": lambda rows: rows.astype(float)},
        {"history.nfev": lambda rows: np.array(["a"] * len(rows))},
    ],
)
def test_contents_that_do_not_fit_are_refused(saved, tmp_path, changes):
    with pytest.raises(ValueError):
        Optimizer.load(rewritten(saved, tmp_path / "s.npz", **changes))


def test_sizes_that_a_file_only_declares_take_no_memory(saved, tmp_path):
    with zipfile.ZipFile(saved) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["arena.npy"] = members["arena.npy"].replace(b"'shape': (", b"'shape': (9", 1)[:-1]
    with zipfile.ZipFile(tmp_path / "s.npz", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=r"'arena.npy' has .* bytes, not those of the shape"):
        Optimizer.load(tmp_path / "s.npz")


def test_no_pickle_is_read(tmp_path, saved):
    class Bomb:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "exploded"),)

    path = rewritten(saved, tmp_path / "s.npz")
    with zipfile.ZipFile(path, "a") as archive:
        np.save(tmp_path / "bomb.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
        archive.write(tmp_path / "bomb.npy", "history.bomb.npy")
    with pytest.raises(ValueError, match="is not a whole saved search"):
        Optimizer.load(path)
    assert not (tmp_path / "exploded").exists()


def test_a_save_that_fails_leaves_the_old_file(saved, tmp_path, monkeypatch):
    path = tmp_path / "s"
    shutil.copy(saved, path)
    before = path.read_bytes()

    def full(*arguments, **arrays):
        raise OSError("no space left")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OSError, match="no space left"):
        Optimizer(BOX, **SMALL).save(path)
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["s"]


SAVING = """
    import sys
    from deddqn import Optimizer
    optimizer = Optimizer([(-5, 5)] * 50, population_size=2000, maxfun=2000, rng=1)
    optimizer.save(sys.argv[1])
    print("saved", flush=True)
    while True:
        optimizer.save(sys.argv[1])
"""


def test_kill_9_while_saving_leaves_a_whole_file(tmp_path):
    path = tmp_path / "s"
    for k in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(SAVING), str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline().strip() == "saved"
        time.sleep(0.05 + 0.013 * k)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        assert Optimizer.load(path).maxfun == 2000
