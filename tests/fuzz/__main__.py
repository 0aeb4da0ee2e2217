"""``python -m tests.fuzz --mutants 100000``: mutated files of every format, read and used in worker processes.

Ends with a table and exit status 1 if a mutant crashed, hung, wrote outside of its folder, raised what no user should
see, or was accepted with another meaning. ``--first`` lets a campaign be done in parts; ``--formats`` chooses some.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.campaign import GOOD, fuzz, shares
from tests.fuzz.formats import FORMATS


def main() -> int:
    """Run a campaign."""
    names = [form.name for form in FORMATS]
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--mutants", type=int, default=2000, help="over all formats")
    parser.add_argument("--first", type=float, default=0.0, help="share of every format's mutants to begin at")
    parser.add_argument("--last", type=float, default=1.0, help="share to end at")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--formats", nargs="*", default=names, choices=names)
    options = parser.parse_args()
    bad: list[str] = []
    print(
        f"{'format':<12}{'mutants':>9}{'refused':>9}{'same':>7}{'stated':>8}{'bad':>5}{'s':>7}{'slowest':>9}{'MiB':>7}"
    )
    for name, count in shares(options.mutants).items():
        if name not in options.formats:
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            first, last = round(options.first * count), round(options.last * count)
            found = fuzz(name, first, last, Path(folder), seed=options.seed)
        bad += found.bad
        counts = "".join(f"{found.outcomes[word]:>{width}}" for word, width in zip(GOOD, (9, 7, 8), strict=True))
        spent, rest = f"{time.monotonic() - began:>7.0f}", f"{found.slowest:>8.2f}s{found.megabytes:>7.0f}"
        print(f"{name:<12}{found.mutants:>9}{counts}{len(found.bad):>5}{spent}{rest}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
