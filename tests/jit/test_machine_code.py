"""Machine code in files: what the package was built with, the cache, and what happens where neither can be used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deddqn._jit import PLAIN, build, machine_code, stored
from deddqn._jit.kernels import ENTRIES
from deddqn.rewards import r1

pytestmark = pytest.mark.skipif(PLAIN, reason="there is no machine code without a compiler")

REWARD = """
import sys
import numpy as np
from deddqn._jit import machine_code
from deddqn.rewards import r1
outcome = np.array([3.0, 1.0, 2.0, 2.0, 4.0, 2.5, 0.0])
assert r1(outcome, np.zeros(0)) == 2.0
print(machine_code.where_from()["deddqn.rewards.r1"], "numba" in sys.modules)
"""
"""One small entry: where its code comes from, and whether numba was needed."""

BOWL = "import deddqn; print(deddqn.minimize(lambda x: (x * x).sum(), [(-5, 5)] * 3, maxfun=300, rng=1).fun.hex())"

FULL = """
import ctypes, mmap
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
size, page, reserved = 8 << 30, mmap.PAGESIZE, 0x4000  # MAP_NORESERVE
start = libc.mmap(None, size, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | reserved, -1, 0)
assert start not in (None, 2**64 - 1)
for k in range(200):
    libc.munmap(start + size - (2 * k + 10) * page, page)
"""
"""Address space as beside libraries of gigabytes: single free pages, in which constants fit, far from larger room."""


def run(script: str, **variables: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("DEDDQN_JIT", "NUMBA_CACHE_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment | variables, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def other_package(tmp_path: Path) -> Path:
    """A copy of the package with its machine code, to be damaged; returns the folder to import it from."""
    if not stored.built_levels():
        pytest.skip("the package has no machine code of these sources: python -m deddqn._jit.build --here")
    shutil.copytree(stored.PACKAGE, tmp_path / "deddqn", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def variables_for(package: Path, cache: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache)}


# -- which code is used


def test_every_entry_is_in_the_package() -> None:
    if not stored.built_levels():
        pytest.skip("the package has no machine code of these sources: python -m deddqn._jit.build --here")
    groups = build._groups()
    assert sorted(name for group in groups for name in group) == sorted(
        name for name in ENTRIES if name.startswith("deddqn.")
    )
    packaged = stored.packaged_code()
    assert packaged.fits, packaged.description
    assert set(packaged.entries) == {name for group in groups for name in group}
    assert all(packaged.read(name) for name in packaged.entries)


def test_the_package_needs_neither_numba_nor_a_cache(other_package: Path, tmp_path: Path) -> None:
    assert run(REWARD, **variables_for(other_package, tmp_path / "cache")) == "package False"
    assert not (tmp_path / "cache").exists()


def test_changed_sources_are_compiled_and_then_cached(other_package: Path, tmp_path: Path) -> None:
    with (other_package / "deddqn" / "de" / "improvement.py").open("a") as file:
        file.write("# changed\n")
    variables = variables_for(other_package, tmp_path / "cache")
    assert run(REWARD, **variables) == "compiled True"
    assert run(REWARD, **variables) == "cache False"
    with (other_package / "deddqn" / "de" / "improvement.py").open("a") as file:
        file.write("# changed again\n")
    assert run(REWARD, **variables) == "compiled True"


def test_a_change_of_what_an_entry_calls_takes_effect(other_package: Path, tmp_path: Path) -> None:
    """The trap of numba's own cache, which looks at the file of the entry alone."""
    variables = variables_for(other_package, tmp_path / "cache") | {"DEDDQN_JIT": "1"}
    script = REWARD.replace("assert r1(outcome, np.zeros(0)) == 2.0", "print(r1(outcome, np.zeros(0)))")
    assert run(script, **variables).split()[0] == "2.0"
    path = other_package / "deddqn" / "de" / "improvement.py"
    text = path.read_text()
    assert text.count("LARGEST_IMPROVEMENT = ") == 1
    path.write_text(text.replace("LARGEST_IMPROVEMENT = ", "LARGEST_IMPROVEMENT = 0.5  # "))
    assert run(script, **variables).split()[0] == "0.5"


def test_the_jit_can_be_asked_for(other_package: Path, tmp_path: Path) -> None:
    variables = variables_for(other_package, tmp_path / "cache")
    assert run(REWARD, **variables, DEDDQN_JIT="1") == "compiled True"
    assert run(REWARD, **variables, DEDDQN_JIT="0") == "package False"


@pytest.mark.parametrize(
    "damage", ["truncated", "one bit", "no manifest", "bad manifest", "other system", "needs more"]
)
def test_damaged_or_foreign_code_is_not_used(other_package: Path, tmp_path: Path, damage: str) -> None:
    folder = other_package / "deddqn" / "_jit" / "built"
    code, manifest = folder / f"{stored.best_level()}.bin", folder / stored.MANIFEST
    content, told = code.read_bytes(), json.loads(manifest.read_text())
    if damage == "truncated":
        code.write_bytes(b"")
    elif damage == "one bit":
        start, size, _ = told["levels"][stored.best_level()]["deddqn.rewards.r1"]
        changed = bytearray(content)
        changed[start + size // 2] ^= 1
        code.write_bytes(bytes(changed))
    elif damage == "no manifest":
        manifest.unlink()
    elif damage == "bad manifest":
        manifest.write_text("[1, 2")
    elif damage == "other system":
        manifest.write_text(json.dumps(told | {"system": "riscv64-unknown-linux-gnu"}))
    else:
        manifest.write_text(json.dumps(told | {"needs": ["a_function_that_nobody_has"]}))
    assert run(REWARD, **variables_for(other_package, tmp_path / "cache")) == "compiled True"


@pytest.mark.parametrize("damage", ["empty", "truncated", "one bit"])
def test_a_damaged_cache_is_made_anew(tmp_path: Path, damage: str) -> None:
    variables = {"NUMBA_CACHE_DIR": str(tmp_path), "DEDDQN_JIT": "1"}
    assert run(REWARD, **variables) == "compiled True"
    (path,) = tmp_path.rglob("deddqn.rewards.r1-*.o")
    content = path.read_bytes()
    middle = len(content) // 2
    flipped = content[:middle] + bytes([content[middle] ^ 4]) + content[middle + 1 :]
    path.write_bytes({"empty": b"", "truncated": content[:middle], "one bit": flipped}[damage])
    assert run(REWARD, **variables) == "compiled True"
    assert path.read_bytes() == content
    assert run(REWARD, **variables) == "cache False"


def test_nowhere_to_write(tmp_path: Path) -> None:
    nowhere = {"HOME": "/nonexistent", "XDG_CACHE_HOME": "/proc/none", "NUMBA_CACHE_DIR": "/proc/none"}
    assert run(REWARD, **nowhere, DEDDQN_JIT="1") == "compiled True"
    assert run(BOWL, **nowhere) == run(BOWL)
    version = subprocess.run([sys.executable, "-m", "deddqn", "--version"], env=os.environ | nowhere, check=False)
    assert version.returncode == 0


def test_the_same_bits_from_package_and_jit() -> None:
    assert run(BOWL, DEDDQN_JIT="1") == run(BOWL) == run(BOWL, NUMBA_DISABLE_JIT="1")


@pytest.mark.skipif(sys.platform != "linux", reason="address space is taken as Linux gives it")
def test_code_works_far_from_its_constants() -> None:
    modules = "import numpy, llvmlite.binding, deddqn\n"
    assert run(modules + FULL + BOWL) == run(BOWL)


def test_old_code_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old, recent, own = (tmp_path / name for name in ("old", "recent", "own"))
    for folder in (old, recent, own):
        folder.mkdir()
    os.utime(old, (0, 0))
    stored._forget_old(own)
    assert not old.exists() and recent.exists() and own.exists()


# -- what callers in Python may do


def test_arguments_are_checked() -> None:
    outcome = np.array([3.0, 1.0, 2.0, 2.0, 4.0, 2.5, 0.0])
    with pytest.raises(TypeError, match="takes 2 arguments, got 1"):
        r1(outcome)
    with pytest.raises(TypeError, match="contiguous array of float64 with 1 axes, got float32"):
        r1(outcome.astype(np.float32), np.zeros(0))
    with pytest.raises(TypeError, match=r"with shape \(4,\)"):
        r1(np.zeros(8)[::2], np.zeros(0))


def test_an_address_needs_the_right_signature() -> None:
    from deddqn._jit import OBJECTIVE_SIGNATURE, address_of

    with pytest.raises(TypeError, match="must have the signature"):
        address_of(r1, OBJECTIVE_SIGNATURE)
    with pytest.raises(TypeError, match="a compiled function is needed here"):
        address_of(print, OBJECTIVE_SIGNATURE)


def test_kernels_travel_by_name() -> None:
    import copy
    import pickle

    assert pickle.loads(pickle.dumps(r1)) is r1
    assert copy.deepcopy(r1) is r1


def test_description_names_the_code(monkeypatch: pytest.MonkeyPatch) -> None:
    from deddqn._jit import describe

    told = dict(describe())
    assert told["kernels"].startswith(("machine code of the package", "compiled at first use"))
    monkeypatch.setattr(machine_code, "packaged", lambda: stored.PackagedCode({}, None, "damaged"))
    assert dict(describe())["kernels"] == "compiled at first use (of the package: damaged)"
