"""Compare the digests of today with the recorded ones: ``python -m tests.digests [--group exact] [--only PART]``.

Exit status 1 and a line for every digest that differs. With ``NUMBA_DISABLE_JIT=1`` only the cases run that are short
enough for that. ``--write`` records new digests: after a change that is meant to change results, and never in a test.
"""

from __future__ import annotations

import argparse
import sys
import time

from numba import config

from tests.digests.case import GROUPS
from tests.digests.recorded import RECORD, differences, elsewhere, lost, selected, write


def main(arguments: list[str] | None = None) -> int:
    """Compare or record; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.digests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--group", choices=GROUPS, action="append", help="compare this group; may be repeated")
    parser.add_argument("--only", default="", metavar="PART", help="compare cases whose name contains this")
    parser.add_argument("--plain", action="store_true", help="compare the cases that also run without the compiler")
    parser.add_argument("--write", action="store_true", help="record the digests of all cases")
    given = parser.parse_args(arguments)
    if given.write:
        if config.DISABLE_JIT or given.group or given.only or given.plain:
            parser.error("--write records all cases, with the compiler")
        print(f"{write()} digests in {RECORD}")
        return 0
    groups = given.group or GROUPS
    failures = [compare(group, given.only, given.plain) for group in groups]
    return 1 if any(failures) else 0


def compare(group: str, part: str, plain: bool) -> int:
    """Print how a group fares; return how many of its digests differ."""
    if why := elsewhere(group):
        print(f"{group}: left out, {why}")
        return 0
    begun = time.perf_counter()
    cases = selected([group], part, plain=plain)
    found = differences(cases)
    if not (part or plain or config.DISABLE_JIT):
        found += [f"{name}: is recorded, but there is no such case" for name in lost(group)]
    for line in found:
        print(line)
    print(f"{group}: {len(found)} of {len(cases)} digests differ ({time.perf_counter() - begun:.0f} s)", flush=True)
    return len(found)


if __name__ == "__main__":
    sys.exit(main())
