"""Callbacks in both scipy styles, and Ctrl-C."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

from deddqn import Optimizer, minimize
from tests.optimize.objectives import BOX, SMALL, assert_same, bowl, by_ask_and_tell, random_network


def test_style_of_x_and_convergence():
    seen = []

    def note(xk, convergence):
        seen.append((xk, convergence))

    result = minimize(bowl, BOX, policy="softmax", callback=note, tol=1e-9, **SMALL)
    assert len(seen) == 7 and np.array_equal(seen[-1][0], result.x)
    assert all(0 < convergence < 1 for _, convergence in seen)
    assert bowl(seen[0][0]) >= bowl(seen[-1][0])


def test_style_of_intermediate_results():
    seen = []

    def note(intermediate_result):
        seen.append(intermediate_result)

    result = minimize(bowl, BOX, policy="softmax", callback=note, **SMALL)
    assert all(isinstance(found, OptimizeResult) for found in seen)
    assert [found.nfev for found in seen] == [20, 40, 60, 80, 100, 120, 130]
    assert seen[-1].fun == result.fun and seen[0].population.shape == (20, 4)
    seen[0].population[:] = 0  # a copy: the search does not care
    assert_same(result, minimize(bowl, BOX, policy="softmax", callback=lambda xk, convergence: None, **SMALL))


def raising(*args, **kwargs):
    raise StopIteration


@pytest.mark.parametrize("way", [{}, {"updating": "deferred"}, {"workers": map}])
@pytest.mark.parametrize("stop", [lambda *a, **k: True, lambda *a, **k: np.True_, raising])
def test_stopping(stop, way):
    result = minimize(bowl, BOX, callback=stop, **SMALL, **way)
    assert result.nfev == 20 and result.message == "The callback asked to stop." and result.success


def test_stopping_in_the_new_style():
    def stop(intermediate_result):
        if intermediate_result.nit == 2:
            raise StopIteration

    assert minimize(bowl, BOX, callback=stop, **SMALL).nit == 2


def test_a_stopped_search_goes_on():
    optimizer = Optimizer(BOX, **SMALL)
    while not {"maxfun"} & set(optimizer.stop()):
        optimizer.optimize(bowl, callback=lambda xk, convergence: True)
    assert_same(optimizer.optimize(bowl), minimize(bowl, BOX, **SMALL))


def test_a_stopped_search_goes_on_by_ask_and_tell():
    optimizer = Optimizer(BOX, **SMALL)
    optimizer.optimize(bowl, callback=lambda xk, convergence: True)
    assert "callback" in optimizer.stop()
    points = optimizer.ask()
    assert not optimizer.stop()
    optimizer.tell(points, bowl(points[0]))
    assert_same(by_ask_and_tell(optimizer), minimize(bowl, BOX, **SMALL))


def test_an_exception_of_a_callback_passes():
    def bad(xk, convergence):
        raise LookupError("callback")

    optimizer = Optimizer(BOX, **SMALL)
    with pytest.raises(LookupError, match="callback"):
        optimizer.optimize(bowl, callback=bad)
    assert_same(optimizer.optimize(bowl), minimize(bowl, BOX, **SMALL))


class Pressed:
    """`bowl`, during whose calls somebody presses Ctrl-C."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, x):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return bowl(x)


@pytest.mark.parametrize("updating", ["sequential", "deferred"])
@pytest.mark.parametrize("workers", [1, map])
def test_ctrl_c(updating, workers, capsys):
    if workers is map and updating == "sequential":
        pytest.skip("a map needs deferred updating")
    options = {**SMALL, "updating": updating}
    result = minimize(Pressed(55), BOX, disp=True, workers=workers, **options)
    assert result.message == "Interrupted." and not result.success and result.fun == bowl(result.x)
    assert result.nfev == (54 if updating == "sequential" else 40)
    with pytest.raises(KeyboardInterrupt):
        minimize(Pressed(55), BOX, workers=workers, **options)
    optimizer, fun = Optimizer(BOX, **options), Pressed(55)
    with pytest.raises(KeyboardInterrupt):
        optimizer.optimize(fun, workers=workers)
    assert optimizer.result.message == "The search is not finished."
    assert_same(optimizer.optimize(fun, workers=workers), minimize(bowl, BOX, **options))
    assert fun.calls == 131  # the values before the interruption were kept


def test_ctrl_c_before_polishing_and_during_it():
    early = minimize(Pressed(55), BOX, disp=True, polish=True, **SMALL)
    assert "Polishing" not in early.message and early.nfev == 54
    late = minimize(Pressed(125), BOX, disp=True, polish=True, **SMALL)
    assert late.message.endswith("and was interrupted.") and late.nfev <= 125
    with pytest.raises(KeyboardInterrupt):
        minimize(Pressed(125), BOX, polish=True, **SMALL)


def test_real_signals_hit_the_compiled_loop():
    """A signal that arrives between two calls of the function is neither lost nor does it leave a false value."""
    expected = minimize(bowl, BOX, policy=random_network(), maxfun=3000, rng=1)
    finished = 0
    for _ in range(15):
        optimizer = Optimizer(BOX, policy=random_network(), maxfun=3000, rng=1)
        timer = threading.Timer(0.004, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            optimizer.optimize(bowl)
            timer.join()
            time.sleep(0.01)
        except KeyboardInterrupt:
            finished += 1
        timer.join()
        assert_same(optimizer.optimize(bowl), expected)
    assert finished == 15


def test_an_exception_of_a_signal_handler_comes_out():
    class Alarm(Exception):
        pass

    def ring(number, frame):
        raise Alarm("ring")

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(Alarm, match="ring"):
            minimize(lambda x: 0.0, BOX, maxfun=10**9, rng=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(
    ("options", "ends_with"),
    [
        ("disp=True", "Interrupted."),
        ("disp=True, workers=2", "Interrupted."),
        ("workers=2", "KeyboardInterrupt"),
        ("disp=True, workers=2, updating='asynchronous'", "Interrupted."),
    ],
)
def test_ctrl_c_in_a_terminal(options, ends_with):
    """The signal goes to the whole process group, as from a terminal: one clean answer, no noise of workers."""
    shown = "disp" in options
    code = f"""
        import time, deddqn
        def slow(x):
            {"" if shown else "print('called', flush=True)"}
            time.sleep(0.002)
            return (x**2).sum()
        print("begun", flush=True)
        result = deddqn.minimize(slow, [(-5, 5)] * 3, maxfun=10**6, rng=1, {options})
        print(result.nfev > 0, flush=True)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout.readline().strip() == "begun"
    lines = [process.stdout.readline() for _ in range(1 if shown else 300)]  # until all workers are at it
    assert lines[0].startswith("generation 0" if shown else "called")
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    if shown:
        assert out.splitlines()[-2:] == [ends_with, "True"] and err == "" and process.returncode == 0
    else:
        assert err.strip().splitlines()[-1] == ends_with and err.count("Traceback") == 1
