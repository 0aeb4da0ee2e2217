"""The compiled network of the online phase (Sect. 3.2) against numpy; policy files: right, wrong, broken, foreign."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from deddqn._jit import floats_at
from deddqn.de import PAPER, DEConfig, Operator, Portfolio
from deddqn.engine import RunSpec, VectorizedRuns
from deddqn.features import LAYOUT_VERSION, n_features
from deddqn.policies import CompiledPolicy, PolicyFileError, load_policy, load_policy_file, network_policy, save_policy
from deddqn.policies.mlp import GENERATION_EXPLORATION, N_LAYERS, WIDTHS, forward, memory_size
from deddqn.problems import get
from deddqn.rng import Stream, integer_below, streams_at, uniform

Layers = tuple[list[np.ndarray], list[np.ndarray]]


def layers(hidden: Sequence[int], n_ops: int = 4, seed: int = 0) -> Layers:
    rng = np.random.default_rng(seed)
    widths = [n_features(n_ops), *hidden, n_ops]
    pairs = list(zip(widths, widths[1:], strict=False))
    weights = [rng.standard_normal((b, a)).astype(np.float32) / np.sqrt(a, dtype=np.float32) for a, b in pairs]
    return weights, [0.3 * rng.standard_normal(b).astype(np.float32) for b in widths[1:]]


def numpy_forward(network: Layers, state: np.ndarray) -> np.ndarray:
    value = state.astype(np.float32).astype(np.float64)
    for k, (weight, bias) in enumerate(zip(*network, strict=True)):
        value = weight.astype(np.float64) @ value + bias
        if k < len(network[0]) - 1:
            value = np.maximum(value, 0.0)
    return value


def q_values(policy: CompiledPolicy, state: np.ndarray) -> np.ndarray:
    size = policy.memory_size(4, 100)
    assert size == memory_size(policy.setup)
    guarded = np.full(size + 16, np.nan)  # what the network writes past its memory would be seen
    n_ops = int(policy.setup[WIDTHS + int(policy.setup[N_LAYERS])])
    values = floats_at(forward(policy.setup, guarded[:size], state), (n_ops,)).astype(np.float64)
    assert np.isnan(guarded[size:]).all()
    return values


@pytest.mark.parametrize("n_ops", [1, 4, 12])
@pytest.mark.parametrize(
    "hidden", [(), (1,), (7,), (8,), (100, 100, 100, 100), (100, 100, 100), (33, 5), (104,), (257, 3, 64), (300,) * 2]
)
def test_forward_is_numpys(hidden: tuple[int, ...], n_ops: int) -> None:
    network = layers(hidden, n_ops)
    portfolio = PAPER if n_ops == 4 else Portfolio(Operator("rand/1", 0.1 * (k + 1)) for k in range(n_ops))
    policy = network_policy(*network, portfolio=portfolio)
    rng = np.random.default_rng(2)
    policy.reset(n_ops, 100, rng)
    for k in range(8):
        state = rng.uniform(-1.0, 1.0, n_features(n_ops))
        state[rng.uniform(size=state.size) < k / 7] = 0.0  # up to all of them: zeros are skipped
        expected = numpy_forward(network, state)
        np.testing.assert_allclose(q_values(policy, state), expected, rtol=1e-5, atol=1e-5)
        assert expected[policy.choose(state, 0)] >= expected.max() - 2e-5


def test_ties_go_to_the_first_operator() -> None:
    policy = network_policy([np.zeros((4, 99))], [np.array([1.0, 2.0, 2.0, 0.0])])
    policy.reset(4, 10, np.random.default_rng(0))
    assert policy.choose(np.ones(99), 0) == 1


def with_commitment(policy: CompiledPolicy, share: float) -> CompiledPolicy:
    policy.setup[GENERATION_EXPLORATION] = share
    return policy


def test_a_committed_generation_applies_one_operator_throughout() -> None:
    """Epsilon is 1: a generation of 30 that is not committed plays one operator with a chance of 4^-29."""
    policy = with_commitment(network_policy(*layers((5,)), epsilon=1.0), 0.3)
    policy.reset(4, 30, np.random.default_rng(0))
    state, generations = np.ones(n_features(4)), 3000
    played = np.array([[policy.choose(state, i) for i in range(30)] for _ in range(generations)])
    committed = (played == played[:, :1]).all(axis=1)
    assert committed.mean() == pytest.approx(0.3, abs=4 * np.sqrt(0.3 * 0.7 / generations))
    counters = np.bincount(played[committed, 0], minlength=4)
    expected = counters.sum() / 4
    assert ((counters - expected) ** 2 / expected).sum() < 16.3  # chi-squared, 3 degrees: p = 0.001
    free = played[~committed].ravel()
    assert np.bincount(free, minlength=4) / free.size == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_decisions_with_commitment_draw_by_draw(share: float) -> None:
    """Algorithm 1 lines 9-12 by hand, from the run's own stream; without commitment not one draw more is made."""
    epsilon, n_pop = 0.2, 8
    policy = with_commitment(network_policy(*layers((12,)), epsilon=epsilon), share)
    problem = get("cec2005:F6/d10")
    config = DEConfig(population_size=n_pop, budget=400)
    lanes = VectorizedRuns([RunSpec(problem=problem, policy=policy, config=config, observe=True, seed=3)], threads=1)
    record = lanes.record(392)
    stream = streams_at(3, problem.seed_name, problem.dimension, 0)[Stream.POLICY].copy()
    memory, expected, operator = np.zeros(memory_size(policy.setup)), [], -1
    for k, state in enumerate(record.states[0]):
        if share > 0.0 and k % n_pop == 0:
            operator = int(integer_below(stream, 4)) if uniform(stream) < share else -1
        if operator >= 0:
            expected.append(operator)
        elif uniform(stream) < epsilon:
            expected.append(int(integer_below(stream, 4)))
        else:
            expected.append(int(np.argmax(floats_at(forward(policy.setup, memory, state.astype(np.float64)), (4,)))))
    assert record.actions[0].tolist() == expected
    assert lanes.episodes[0].de_state.streams[Stream.POLICY].tolist() == stream.tolist()


# -- policy files

OTHER = Portfolio([("rand/1", 0.9, 0.25), ("rand/2", 0.3, 1.0), ("rand/1", 0.5, 1.0)])


@pytest.mark.parametrize(("hidden", "portfolio"), [((100, 100, 100, 100), PAPER), ((5,), OTHER), ((), OTHER)])
def test_round_trip(tmp_path: Path, hidden: tuple[int, ...], portfolio: Portfolio) -> None:
    network = layers(hidden, len(portfolio))
    path = tmp_path / "policy.safetensors"
    save_policy(path, *network, name="mine", portfolio=portfolio, max_dimension=50, provenance={"runs": 3})
    for loaded in (load_policy_file(path), load_policy(str(path)), load_policy(path)):
        assert isinstance(loaded, CompiledPolicy)
        assert (loaded.name, loaded.portfolio, loaded.max_dimension) == ("mine", portfolio, 50)
        assert loaded.needs_features
        assert loaded.metadata["provenance"] == {"runs": 3}
        assert loaded.metadata["layout_version"] == LAYOUT_VERSION
        assert loaded.setup.tobytes() == network_policy(*network, portfolio=portfolio).setup.tobytes()
    assert [file.name for file in tmp_path.iterdir()] == ["policy.safetensors"]


def test_a_loaded_policy_refuses_another_portfolio(tmp_path: Path) -> None:
    save_policy(tmp_path / "p.safetensors", *layers((5,), 3), portfolio=OTHER)
    with pytest.raises(ValueError, match=r"was made for the portfolio rand/1 \(F=0.9, CR=0.25\).* got rand/1 \(F=0.5"):
        load_policy_file(tmp_path / "p.safetensors").check_portfolio(PAPER)


INPUTS: dict[str, Any] = {
    "format": "deddqn-policy-1",
    "name": "hand-made",
    "layout_version": LAYOUT_VERSION,
    "portfolio": [["rand/1", 0.5, 1.0]],
    "max_dimension": 30,
}
TENSORS = {"layers.0.weight": np.zeros((1, 39), np.float32), "layers.0.bias": np.zeros(1, np.float32)}


def write(path: Path, *, tensors: dict[str, np.ndarray] = TENSORS, text: str | None = None, **outcome: Any) -> Path:
    described = {key: value for key, value in {**INPUTS, **outcome}.items() if value is not ...}
    save_file(tensors, path, metadata={"deddqn": json.dumps(described) if text is None else text})
    return path


def test_the_hand_made_file_is_right(tmp_path: Path) -> None:
    assert load_policy_file(write(tmp_path / "p.safetensors")).name == "hand-made"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layout_version": 99}, f"was made for feature layout 99, this version has {LAYOUT_VERSION}"),
        ({"layout_version": ...}, "its header must have 'layout_version'"),
        ({"format": "deddqn-policy-9"}, "has format 'deddqn-policy-9', this version reads 'deddqn-policy-1'"),
        ({"text": "{not json"}, "is not a policy file: Expecting property name"),
        ({"text": "[1, 2]"}, "is not a policy file: its header must be an object"),
        ({"name": ...}, "name"),
        ({"portfolio": [["rand/9", 0.5, 1.0]]}, "unknown strategy 'rand/9'; did you mean"),
        ({"portfolio": [["rand/1", 0.5, 7.0]]}, r"crossover \(CR\) must lie in \[0, 1\], got 7.0"),
        ({"portfolio": []}, "portfolio must hold at least one entry"),
        ({"portfolio": 4}, "portfolio must be a list, got 4"),
        ({"portfolio": [["rand/1", 0.5, 1.0]] * 2}, r"layer 0 must take 59 inputs .* got weight \(1, 39\)"),
        ({"max_dimension": 0}, "max_dimension must be at least 1, got 0"),
        ({"max_dimension": "many"}, "many"),
        ({"max_dimension": ...}, "max_dimension"),
        ({"max_dimension": float("inf")}, "max_dimension must be a whole number, got inf"),
        ({"max_dimension": 10**30}, "max_dimension must be at most 1000000"),
        ({"kind": ["network"]}, "kind must be text"),
        ({"name": 5}, "name must be text, got 5"),
        ({"name": "\x1b[2J"}, "name must have 1 to 1000 characters that can be printed"),
        ({"text": "[" * 100_000}, "nested too deeply"),
        ({"text": "[" * 100 + "]" * 100}, "nested deeper than"),
        ({"text": '{"format": "deddqn-policy-1", "format": "deddqn-policy-1"}'}, "'format' is there twice"),
        ({"de": {"population_size": [1]}}, "population_size must be text or a number or null"),
        ({"de": {"population_size": 1e400}}, "population_size must be a whole number"),
        ({"new": 1}, "must have no 'new'"),
        ({"tensors": {**TENSORS, "layers.0.bias": np.zeros(1, np.float16)}}, "of the type F16"),
        ({"tensors": {"layers.0.weight": TENSORS["layers.0.weight"]}}, "but not so 'layers.0.bias'"),
        ({"tensors": {"other": np.zeros(3)}}, "but not so 'other'"),
        ({"tensors": {**TENSORS, "layers.0.bias": np.zeros(2, np.float32)}}, r"one bias per output.* bias \(2,\)"),
        ({"tensors": {**TENSORS, "layers.0.weight": np.zeros((1, 99), np.float32)}}, "layer 0 must take 39 inputs"),
        ({"tensors": {**TENSORS, "layers.0.weight": np.zeros(39, np.float32)}}, "layer 0 must take 39 inputs"),
        ({"tensors": {**TENSORS, "layers.0.weight": np.full((1, 39), np.nan, np.float32)}}, "layer 0 .* not finite"),
        ({"tensors": {**TENSORS, "layers.0.bias": np.array([np.inf], np.float32)}}, "layer 0 .* not finite"),
        ({"tensors": {**TENSORS, "layers.0.weight": np.full((1, 39), 1e39)}}, "layer 0 .* not finite"),
        (
            {"tensors": {"layers.0.weight": np.zeros((2, 39), np.float32), "layers.0.bias": np.zeros(2, np.float32)}},
            r"the last layer must have one output per operator \(1\), got 2",
        ),
    ],
)
def test_wrong_files(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = write(tmp_path / "wrong.safetensors", **changes)
    with pytest.raises(PolicyFileError, match=f"wrong.safetensors.*{message}"):
        load_policy_file(path)


def test_broken_files(tmp_path: Path) -> None:
    whole = tmp_path / "whole.safetensors"
    save_policy(whole, *layers((20,)))
    data = whole.read_bytes()
    broken = tmp_path / "broken.safetensors"
    for content in (b"", data[:5], data[:60], data[: len(data) // 2], data[:-1], b"weights " * 50):
        broken.write_bytes(content)
        with pytest.raises(PolicyFileError, match="broken.safetensors is not a policy file"):
            load_policy_file(broken)
    with pytest.raises(PolicyFileError, match="is not a policy file"):
        load_policy_file(tmp_path)
    for missing in (tmp_path / "none.safetensors", str(tmp_path / "none.safetensors")):
        with pytest.raises(PolicyFileError, match="no policy file at .*none.safetensors"):
            load_policy(missing)


def test_numbers_that_numpy_does_not_have_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "bf16.safetensors")
    content = path.read_bytes().replace(b'"F32","shape":[1,39]', b'"BF16","shape":[1,78]')
    path.write_bytes((int.from_bytes(content[:8], "little") + 1).to_bytes(8, "little") + content[8:])
    with pytest.raises(PolicyFileError, match="'layers.0.weight' has elements of the type BF16"):
        load_policy_file(path)


def test_a_changed_number_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    save_policy(path, *layers((5,)), name="own")
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)
    with pytest.raises(PolicyFileError, match="the checksum differs"):
        load_policy_file(path)


def test_pipes_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.safetensors")
    with pytest.raises(PolicyFileError, match="it is not a plain file"):
        load_policy_file(tmp_path / "pipe.safetensors")


def test_foreign_safetensors(tmp_path: Path) -> None:
    save_file(TENSORS, tmp_path / "foreign.safetensors")
    with pytest.raises(PolicyFileError, match="foreign.safetensors is not a policy file: it has no deddqn metadata"):
        load_policy_file(tmp_path / "foreign.safetensors")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e39])
def test_bad_weights_are_not_saved(tmp_path: Path, bad: float) -> None:
    weights, biases = layers((5,))
    path = tmp_path / "policy.safetensors"
    save_policy(path, weights, biases)
    before = path.read_bytes()
    weights[1] = weights[1].astype(np.float64)
    weights[1][0, 0] = bad
    with pytest.raises(PolicyFileError, match="layer 1 has weights that are not finite"):
        save_policy(path, weights, biases)
    assert path.read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 1
    with pytest.raises(PolicyFileError, match="layer 1 has weights that are not finite"):
        network_policy(weights, biases)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"epsilon": 1.5}, r"epsilon must lie in \[0, 1\], got 1.5"),
        ({"epsilon": float("nan")}, r"epsilon must lie in \[0, 1\], got nan"),
        ({"max_dimension": 0}, "max_dimension must be at least 1, got 0"),
        ({"portfolio": OTHER}, "layer 0 must take 79 inputs"),
    ],
)
def test_wrong_arguments(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        network_policy(*layers((5,)), **settings)


def test_arrays_of_other_libraries() -> None:
    weights, biases = [[[0.5] * 99] * 4], [[0.0, 1.0, 2.0, 3.0]]
    policy = network_policy(weights, biases)
    assert np.array_equal(policy.setup, network_policy([np.full((4, 99), 0.5)], [np.arange(4.0)]).setup)
    with pytest.raises(PolicyFileError, match=r"got weight \(99, 4\) and bias \(4,\): .* so transpose it"):
        network_policy([np.full((99, 4), 0.5)], biases)
    with pytest.raises(PolicyFileError, match="weights must be arrays of numbers, but that of layer 0 is not"):
        network_policy(["many"], biases)
