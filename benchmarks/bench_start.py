"""How soon there is an answer: whole processes, in seconds of CPU, on an installed wheel that was built here.

- the first `minimize()` after an installation; where no machine code fits and everything is compiled; imports and help
- a numba-jitted objective that comes again: its second call, and the memory that a thousand calls keep
- what machine code from the package costs against machine code that was compiled on this machine
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.bars import Bar, print_bars

ROUNDS = 5
MINIMIZE = "import deddqn; deddqn.minimize(lambda x: ((x - 1) ** 2).sum(), [(-5, 5)] * 10, rng=1)"
SCIPY = """
from scipy.optimize import differential_evolution
differential_evolution(lambda x: ((x - 1) ** 2).sum(), [(-5, 5)] * 10, maxiter=65, tol=0, polish=False, rng=1)
"""
JITTED = """
import os, time
import numba, deddqn

@numba.njit
def bowl(x):
    return (x * x).sum()

def call():
    deddqn.minimize(bowl, [(-5, 5)] * 10, maxfun=200, rng=1)

def megabytes():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

call()
seconds = []
for _ in range(5):
    started = time.process_time()
    call()
    seconds.append(time.process_time() - started)
for _ in range(200):
    call()
before = megabytes()
for _ in range(1000):
    call()
print(1e3 * min(seconds), megabytes() - before)
"""
STEADY = """
import time
import deddqn
from deddqn.problems import get
problem = get("cec2005:F10/d30")
best = float("inf")
for round in range(5):
    started = time.process_time()
    result = deddqn.minimize(problem, maxfun=20_000, rng=round)
    best = min(best, (time.process_time() - started) / result.nfev)
print(1e6 * best)
"""


def installed_wheel(folder: Path) -> Path:
    """Build the wheel and install it, alone, into a folder; return what to put on Python's path."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    subprocess.run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", folder, "."], check=True)
    (wheel,) = folder.glob("deddqn-*.whl")
    subprocess.run([*pip, "install", "--no-deps", "--target", folder / "site", wheel], check=True)
    return folder / "site"


def cpu_seconds(command: list[str], variables: dict[str, str]) -> float:
    """User and system time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=os.environ | variables, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def least(command: list[str], variables: dict[str, str], rounds: int = ROUNDS) -> float:
    """The least of several rounds."""
    return min(cpu_seconds(command, variables) for _ in range(rounds))


def printed(script: str, variables: dict[str, str]) -> list[float]:
    """The numbers that a script prints."""
    command = [sys.executable, "-c", script]
    said = subprocess.run(command, env=os.environ | variables, check=True, capture_output=True, text=True).stdout
    return [float(word) for word in said.split()]


def main() -> list[Bar]:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        here = {"PYTHONPATH": str(installed_wheel(folder)), "NUMBA_CACHE_DIR": str(folder / "cache")}
        python = [sys.executable, "-c"]
        first = cpu_seconds([*python, MINIMIZE], here)  # the very first process, its bytecode compiled, too
        later = least([*python, MINIMIZE], here)
        scipy = least([*python, SCIPY], here)
        compiled = cpu_seconds([*python, MINIMIZE], here | {"DEDDQN_JIT": "1"})
        imported, numpy = least([*python, "import deddqn"], here), least([*python, "import numpy"], here)
        help_ = least([sys.executable, "-m", "deddqn", "--help"], here)
        milliseconds, kept = printed(JITTED, here)
        shipped = min(printed(STEADY, here)[0] for _ in range(2))
        jitted = min(printed(STEADY, here | {"DEDDQN_JIT": "1"})[0] for _ in range(2))
    bars = [
        Bar(
            "first minimize() after installing the wheel, process in all", first, 2.0, "s", peer=f"later {later:.2f} s"
        ),
        Bar("later minimize(), process in all", later, 2.0, "s", peer=f"scipy's DE {scipy:.2f} s"),
        Bar("first minimize() where no machine code fits", compiled, 12.0, "s"),
        Bar("import deddqn, process in all", imported, 0.5, "s", peer=f"import numpy {numpy:.2f} s"),
        Bar("deddqn --help", help_, 0.2, "s"),
        Bar("200 evaluations of a jitted objective, second call", milliseconds, 10.0, "ms"),
        Bar("memory that 1000 calls with a jitted objective keep", kept, 1.0, "MB"),
        Bar(
            "cost per evaluation, package against jit, F10 D=30", shipped / jitted, 1.05, "x", peer=f"{shipped:.2f} us"
        ),
    ]
    print_bars(bars)
    return bars


if __name__ == "__main__":
    main()
