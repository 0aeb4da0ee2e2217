"""``python -m tests.faults.interrupts``: how long `compare` takes to end after Ctrl-C, whatever it is doing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRIVER = """
import sys, time
from deddqn.experiments import compare
from deddqn.problems import Problem
from tests.experiments.methods_for_tests import PROBLEMS, Endless

class InThread(Endless):  # of the main module: no other process finds it
    name = "in-thread"

def slow(x):
    time.sleep(30.0)
    return float((x**2).sum())

own = Problem.from_function(slow, [(-5, 5)] * 3, name="own")
methods, problems = {
    "compiled runs": (["random", "softmax-x"], [*PROBLEMS, "cec2005:F1/d30"]),
    "a method in a worker process": (["random", Endless()], PROBLEMS),
    "a method in a thread": (["random", InThread()], PROBLEMS),
    "a slow function in Python": (["random", "de1"], [*PROBLEMS, own]),
}[sys.argv[2]]
print("ready", flush=True)
compare(methods, problems, runs=50, budget=10_000, out=sys.argv[1], workers=2)
"""
KINDS = ("compiled runs", "a method in a worker process", "a method in a thread", "a slow function in Python")


def main() -> int:
    """Print the seconds of every kind."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-c", DRIVER, folder, kind]
            options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "env": environment}
            with subprocess.Popen(command, text=True, **options) as process:
                assert process.stdout is not None
                process.stdout.readline()
                time.sleep(6.0)
                begun = time.monotonic()
                process.send_signal(signal.SIGINT)
                process.wait()
                print(f"{kind}: {time.monotonic() - begun:.2f} s", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
