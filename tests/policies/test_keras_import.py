"""Weight files of Keras become policy files; all others are refused with the reason."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

h5py = pytest.importorskip("h5py")

from deddqn import Optimizer, minimize  # noqa: E402
from deddqn._utils import reading  # noqa: E402
from deddqn.policies import CompiledPolicy, load_policy_file  # noqa: E402
from deddqn.policies.keras_import import import_keras, read_keras_network  # noqa: E402
from deddqn.policies.policy_arrays import packed, unpacked  # noqa: E402
from tests.policies.keras_files import q_values, random_layers, write_keras  # noqa: E402

Spoil = Callable[[Any], None]


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    return write_keras(tmp_path / "weights-R2.h5f", random_layers())


def imported(weights: Path, **options: Any) -> CompiledPolicy:
    out = weights.with_name("policy.safetensors")
    import_keras(weights, out, **options)
    return load_policy_file(out)


@pytest.mark.parametrize("group", ["/", "model_weights"])
def test_it_selects_what_the_network_selects(tmp_path: Path, group: str) -> None:
    layers = random_layers(3)
    policy = imported(write_keras(tmp_path / "w.h5f", layers, group=group))
    rng = np.random.default_rng(1)
    policy.reset(4, 100, np.random.Generator(np.random.SFC64(0)))
    selected = set()
    for _ in range(200):
        state = rng.uniform(0.0, 1.0, 99)
        expected = q_values(layers, state)
        if np.diff(np.sort(expected)[-2:]) > 1e-5:
            assert policy.choose(state, 0) == expected.argmax()
            selected.add(int(expected.argmax()))
    assert len(selected) > 1


def test_what_the_policy_file_says(weights: Path) -> None:
    policy = imported(weights)
    assert (policy.name, policy.state, policy.max_dimension) == ("weights-R2", "authors", 50)
    assert policy.metadata["state"] == "authors"
    assert policy.metadata["provenance"] == {
        "imported_from": "weights-R2.h5f",
        "sha256": hashlib.sha256(weights.read_bytes()).hexdigest(),
        "what": "weights of a Keras model, kernels transposed",
        "keras_version": "2.2.4",
        "backend": "tensorflow",
    }


def test_the_state_of_the_paper(weights: Path) -> None:
    policy = imported(weights, state="paper", name="mine")
    assert (policy.name, policy.state, policy.max_dimension) == ("mine", "paper", 30)
    assert "state" not in policy.metadata
    assert imported(weights, state="paper", max_dimension=50).max_dimension == 50


def bowl(x: np.ndarray) -> float:
    return float(((x - 0.3) ** 2).sum())


def test_it_works_wherever_policies_do(weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "own.safetensors"
    import_keras(weights, path)
    runs = {
        state: minimize(bowl, [(-1, 1)] * 5, policy=policy, maxfun=1500, rng=1)
        for state, policy in (("authors", path), ("paper", imported(weights, state="paper")))
    }
    assert runs["authors"].nfev == 1500 and runs["authors"].fun < 0.05
    assert runs["authors"].x.tolist() != runs["paper"].x.tolist()


@pytest.mark.parametrize("updating", ["sequential", "deferred", "asynchronous"])
def test_a_saved_search_keeps_the_state(weights: Path, tmp_path: Path, updating: str) -> None:
    whole, halves = (
        Optimizer([(-1, 1)] * 3, policy=imported(weights), maxfun=900, rng=1, updating=updating) for _ in range(2)
    )

    def work(optimizer: Optimizer, evaluations: int) -> None:
        while optimizer.result.nfev < evaluations and not optimizer.stop():
            points = optimizer.ask()
            optimizer.tell(points, [bowl(point) for point in points])

    work(halves, 400)
    halves.save(tmp_path / "search.npz")
    continued = Optimizer.load(tmp_path / "search.npz")
    work(continued, 900)
    work(whole, 900)
    assert continued.result.x.tolist() == whole.result.x.tolist()
    assert sum(count > 0 for count in whole.result.strategy_counts) > 1
    policy = unpacked(packed(imported(weights)) or {})
    assert policy.state == "authors"


# Files that are refused


def other_layers(change: Callable[[list[Any]], Any]) -> Callable[[Path], Path]:
    def make(path: Path) -> Path:
        layers = random_layers()
        change(layers)
        return write_keras(path, layers)

    return make


def nan(layers: list[Any]) -> None:
    for kernel, bias in layers:
        kernel[:], bias[:] = np.nan, np.nan


def infinite(layers: list[Any]) -> None:
    layers[3][1][7] = -np.inf


def transposed(layers: list[Any]) -> None:
    layers[0] = (layers[0][0].T.copy(), layers[0][1])


def other_width(layers: list[Any]) -> None:
    layers[1] = (np.zeros((100, 64), np.float32), np.zeros(64, np.float32))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            nan,
            "layer 'dense_1' must have a finite kernel, but 9,900 of its 9,900 numbers are NaN: the network has no Q",
        ),
        (infinite, "layer 'dense_4' must have a finite bias, but 1 of its 100 numbers are infinite"),
        (
            transposed,
            r"layer 'dense_1' must have a kernel of shape \(99, 100\) \(99-100-100-100-100-4\), got \(100, 99\)",
        ),
        (other_width, r"layer 'dense_2' must have a kernel of shape \(100, 100\) .* got \(100, 64\)"),
        (lambda layers: layers.pop(2), r"must have 5 layers with weights \(99-100-100-100-100-4\), got 4: "),
    ],
)
def test_other_networks(tmp_path: Path, change: Callable[[list[Any]], Any], message: str) -> None:
    path = other_layers(change)(tmp_path / "other.h5f")
    with pytest.raises(ValueError, match=f"other.h5f is not a Keras weight file that can be imported: .*{message}"):
        imported(path)
    assert not (tmp_path / "policy.safetensors").exists()


def replace(file: Any, name: str, make: Callable[[Any, str], Any]) -> None:
    del file[name]
    make(file, name)


def big(file: Any, name: str) -> None:
    space = h5py.h5s.create_simple((10**6, 10**6))
    group = file[name.rpartition("/")[0]]
    h5py.h5d.create(group.id, name.rpartition("/")[2].encode(), h5py.h5t.IEEE_F32LE, space)


def third_array(file: Any) -> None:
    names = [*file["dense_2"].attrs["weight_names"], b"dense_2/gamma:0"]
    file["dense_2"].attrs["weight_names"] = np.array(names)
    file["dense_2/dense_2/gamma:0"] = np.zeros(100, np.float32)


def virtual(file: Any, name: str) -> None:
    layout = h5py.VirtualLayout(shape=(99, 100), dtype="f4")
    layout[:] = h5py.VirtualSource("/etc/passwd", "x", shape=(99, 100))
    file.create_virtual_dataset(name, layout)


KERNEL = "dense_1/dense_1/kernel:0"
NUMBERS = np.zeros((99, 100), np.float32)
SPOILS: dict[str, tuple[Spoil, str]] = {
    "external link": (
        lambda file: replace(file, KERNEL, lambda f, n: f.__setitem__(n, h5py.ExternalLink("other.h5", "/x"))),
        "is a link",
    ),
    "soft link": (
        lambda file: replace(file, KERNEL, lambda f, n: f.__setitem__(n, h5py.SoftLink("/dense_2/dense_2/kernel:0"))),
        "is a link",
    ),
    "external storage": (
        lambda file: replace(
            file, KERNEL, lambda f, n: f.create_dataset(n, (99, 100), "f4", external=[("/etc/passwd", 0, 39600)])
        ),
        "'dense_1/kernel' must be stored in one piece in this file",
    ),
    "virtual": (lambda file: replace(file, KERNEL, virtual), "must be stored in one piece in this file"),
    "compressed": (
        lambda file: replace(file, KERNEL, lambda f, n: f.create_dataset(n, data=NUMBERS, compression="gzip")),
        "must be stored in one piece in this file",
    ),
    "integers": (
        lambda file: replace(file, KERNEL, lambda f, n: f.create_dataset(n, data=NUMBERS.astype(int))),
        "'dense_1/kernel' has elements of the type int64",
    ),
    "declared size": (lambda file: replace(file, KERNEL, big), "has the shape .1000000, 1000000., and all arrays may"),
    "no array": (lambda file: replace(file, KERNEL, lambda f, n: f.create_group(n)), "'dense_1/kernel' is no array"),
    "missing": (lambda file: file.__delitem__(KERNEL), "it has no 'dense_1/kernel:0'"),
    "third array": (third_array, "a layer must have a kernel and a bias and nothing else, got 'dense_2/gamma'"),
    "no names": (
        lambda file: file.attrs.__delitem__("layer_names"),
        "has no attribute 'layer_names', which Keras writes",
    ),
    "many names": (
        lambda file: file.attrs.__setitem__("layer_names", np.array([f"l{k}" for k in range(101)], dtype="S")),
        r"layer_names must be a list of at most 100 names, got shape \(101,\)",
    ),
    "same names": (
        lambda file: file.attrs.__setitem__("layer_names", np.array(["dense_1"] * 5, dtype="S")),
        "layer_names must be different names",
    ),
}


@pytest.mark.parametrize("how", SPOILS)
def test_tampered_files(weights: Path, how: str) -> None:
    spoil, message = SPOILS[how]
    with h5py.File(weights, "r+") as file:
        spoil(file)
    with pytest.raises(
        ValueError, match=f"weights-R2.h5f is not a Keras weight file that can be imported: .*{message}"
    ):
        read_keras_network(weights)


def test_damaged_files(weights: Path) -> None:
    content = weights.read_bytes()
    damaged = [b"", b"hello", content[:7], content[:100], content[: len(content) // 2], content[8:]]
    rng = Random(1)
    for _ in range(4):
        changed = bytearray(content)
        for _ in range(200):
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
        damaged.append(bytes(changed))
    for part in damaged[:6]:
        weights.write_bytes(part)
        with pytest.raises(ValueError, match="is not a Keras weight file that can be imported"):
            read_keras_network(weights)
    for part in damaged[6:]:
        weights.write_bytes(part)
        try:
            read_keras_network(weights)
        except ValueError as error:
            assert "\n" not in str(error)


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (subprocess.CompletedProcess([], -11, b"", b""), r"the HDF5 library fails on it \(status -11\)"),
        (subprocess.CompletedProcess([], 1, b"", b""), "the HDF5 library does not read it"),
        (subprocess.CompletedProcess([], 0, b"no tensors", b""), "it is shorter than its header says"),
        (subprocess.TimeoutExpired([], 20.0), "the HDF5 library did not read it within 20 s"),
    ],
)
def test_a_library_that_crashes_or_hangs(
    weights: Path, outcome: Any, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(*arguments: Any, **options: Any) -> Any:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr(reading.subprocess, "run", run)
    with pytest.raises(ValueError, match=f"weights-R2.h5f is not a Keras weight file .*{message}"):
        read_keras_network(weights)


def test_the_weights_are_not_overwritten(weights: Path) -> None:
    before = weights.read_bytes()
    with pytest.raises(ValueError, match="out must be another file than the weights"):
        import_keras(weights, weights)
    with pytest.raises(ValueError, match="state must be one of 'paper', 'authors'; did you mean 'authors'"):
        import_keras(weights, weights.with_name("x.safetensors"), state="author")
    assert weights.read_bytes() == before
