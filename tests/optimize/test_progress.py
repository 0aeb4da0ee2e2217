"""The bar: numbers first at any width, nothing where nobody looks."""

import os
import re
import subprocess
import sys
import textwrap
import time
import types

import pytest

from deddqn import Optimizer, minimize
from deddqn.optimize.progress import NARROWEST_BAR, WIDEST_BAR, Standing, _minutes, fit
from tests.optimize.objectives import BOX, SMALL, assert_same, bowl

NUMBERS = ["1,200/10,000", "best 3.25e-05", "0:12 left"]
DETAILS = ["8,123/s", "rand/1 40%", "best/1 F~0.5 CR~0.3 30%", "cma 9%"]


def width_of(fitted):
    pieces = [*map(len, fitted.numbers), *([fitted.bar] if fitted.bar else []), *map(len, fitted.details)]
    return sum(pieces) + 2 * (len(pieces) - 1)


@pytest.mark.parametrize("width", range(1, 140))
def test_numbers_come_before_everything_else(width):
    fitted = fit(NUMBERS, DETAILS, width)
    assert fitted.numbers == NUMBERS[: len(fitted.numbers)] and fitted.numbers
    assert width_of(fitted) <= max(width, len(NUMBERS[0]))
    if fitted.bar:
        assert fitted.numbers == NUMBERS and NARROWEST_BAR <= fitted.bar <= WIDEST_BAR
    if fitted.details:
        assert fitted.bar and fitted.details == DETAILS[: len(fitted.details)]
    wider = fit(NUMBERS, DETAILS, width + 1)
    assert len(wider.numbers) >= len(fitted.numbers) and len(wider.details) >= len(fitted.details)


def test_what_fits_into_usual_widths():
    assert fit(NUMBERS, DETAILS, 30).numbers == NUMBERS[:2]
    assert fit(NUMBERS, DETAILS, 40) == fit(NUMBERS, [], 40)
    assert fit(NUMBERS, DETAILS, 80).details == DETAILS[:2]
    assert fit(NUMBERS, DETAILS, 200).details == DETAILS and fit(NUMBERS, DETAILS, 200).bar == WIDEST_BAR
    assert fit(NUMBERS, ["", "rand/1 40%"], 80).details == ["rand/1 40%"]


def test_times():
    assert [_minutes(s) for s in (0, 59.6, 61, 3600)] == ["0:00", "1:00", "1:01", "1:00:00"]


def test_where_a_run_stands():
    optimizer = Optimizer(BOX, policy="random", **SMALL)
    standing = Standing(optimizer._run, 130, None)
    assert standing.numbers() == ["0/130", "best inf"] and standing.share == 0.0
    optimizer.optimize(bowl, callback=lambda xk, convergence: optimizer.result.nit == 2)
    numbers = standing.numbers()
    assert numbers[:2] == ["60/130", f"best {optimizer.result.fun:.6g}"] and re.fullmatch(r"\d+:\d\d left", numbers[2])
    pace, *shares = standing.details()
    assert pace.endswith("/s") and len(shares) == 3
    percents = [int(share.rpartition(" ")[2].rstrip("%")) for share in shares]
    assert percents == sorted(percents, reverse=True)
    standing.over = True
    assert standing.numbers()[2].startswith("took 0:0")


def test_a_search_whose_end_nobody_knows(capsys):
    optimizer = Optimizer(BOX, population_size=20, rng=7)
    standing = Standing(optimizer._run, None, None)
    optimizer.optimize(bowl, progress="always", callback=lambda xk, convergence: optimizer.result.nit == 2)
    numbers = standing.numbers()
    assert len(numbers) == 2 and standing.share == 0.0
    assert capsys.readouterr().err.startswith(f"{optimizer.result.nfev} evaluations  best ")


def test_a_deadline_counts_as_well():
    standing = Standing(Optimizer(BOX, **SMALL)._run, None, time.monotonic() + 60.0)
    assert standing.numbers()[2] in ("0:59 left", "1:00 left") and 0.0 < standing.share < 0.5


@pytest.mark.parametrize("progress", [True, False])
def test_silent_where_there_is_no_terminal(progress, capfd):
    result = minimize(bowl, BOX, progress=progress, **SMALL)
    out, err = capfd.readouterr()
    assert out == "" and err == ""
    assert_same(result, minimize(bowl, BOX, **SMALL))


def test_always_writes_lines(capsys, monkeypatch):
    monkeypatch.setattr("deddqn.optimize.progress.EVERY", 0.0)
    minimize(bowl, BOX, policy="random", progress="always", **SMALL)
    out, err = capsys.readouterr()
    lines = err.splitlines()
    assert out == "" and len(lines) == 8 and lines[0].startswith("20/130  best ")
    assert lines[-1].startswith("130/130  best ") and "  took 0:0" in lines[-1]


@pytest.mark.parametrize("bad", ["yes", 1, None])
def test_bad_values(bad):
    with pytest.raises(ValueError, match=f"progress must be True, False or 'always', got {bad!r}"):
        minimize(bowl, BOX, progress=bad, **SMALL)


def on_a_terminal(code, columns):
    """What a process writes to a terminal of a width, as lines; sequences that move the cursor are taken out."""
    import fcntl
    import pty
    import struct
    import termios

    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TERM": "xterm"}
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        environment.pop(name, None)
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=side, stderr=side, stdin=side, env=environment
    )
    os.close(side)
    written = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        written += part
    os.close(main)
    assert process.wait(timeout=60) == 0, written
    return [line for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written.decode())) if line]


SEARCH = """
    import deddqn
    calls = 0
    def bowl(x):
        global calls
        calls += 1
        if calls == 50:
            print("a word of the function")
        return float((x**2).sum())
    deddqn.minimize(bowl, [(-5, 5)] * 4, maxfun=3000, rng=1, progress=True{more})
"""


@pytest.mark.parametrize("columns", [24, 80, 160])
def test_on_a_terminal(columns):
    lines = on_a_terminal(SEARCH.format(more=""), columns)
    assert max(map(len, lines)) <= columns
    last = lines[-1].strip()
    assert last.startswith("3,000/3,000")
    assert ("best " in last) == (columns > 24)
    assert ("━" in last, "rand" in last) == {24: (False, False), 80: (True, False), 160: (True, True)}[columns]
    assert "a word of the function" in [line.strip() for line in lines]


def test_on_a_terminal_with_workers():
    lines = on_a_terminal(SEARCH.format(more=", workers=2"), 80)
    assert lines[-1].startswith("3,000/3,000  best ")


def test_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, page):
            shown.append(page)

    def display(page, display_id):
        shown.append(page)
        return Handle()

    monkeypatch.setitem(sys.modules, "IPython", types.ModuleType("IPython"))
    fake = types.ModuleType("IPython.display")
    fake.HTML, fake.display = str, display
    monkeypatch.setitem(sys.modules, "IPython.display", fake)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    minimize(bowl, BOX, progress=True, **SMALL)
    assert "0/130" in shown[0] and 'value="0.0000"' in shown[0]
    assert "130/130" in shown[-1] and 'value="1.0000"' in shown[-1] and "took" in shown[-1]
