"""A verdict for each claim of the paper's Sect. 5.2 (and the two of Sect. 6 that sum it up), from our runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from deddqn.analysis.comparison import ALPHA, Analysis
from deddqn.analysis.curves import FIG_1
from deddqn.analysis.paper_tables import paper_problems

HOLDS, PARTLY, FAILS, UNCHECKED = "holds", "holds in part", "does not hold", "not checked"

FIXED = ("random", "de1", "de2", "de3", "de4")
AOS = ("pm-adapss", "f-auc", "rec-pm")
CMA = ("lr-cmaes", "ipop-cmaes")
REWARDS = ("ddqn-r1", "ddqn-r2", "ddqn-r3")
LEARNED = "ddqn-r2"


@dataclass(frozen=True)
class Claim:
    """What the paper says, what our runs say, and whether they agree."""

    number: int
    where: str
    text: str
    verdict: str
    evidence: str


Judge = Callable[[Analysis], tuple[str, str]]


def _share(good: int, of: int) -> str:
    """The verdict on a claim about several cases."""
    if good == of:
        return HOLDS
    return PARTLY if good else FAILS


def _short(problems: Iterable[str]) -> str:
    """Problems as the paper names them: F9-10."""
    names = [p.removeprefix("cec2005:").replace("/d", "-") for p in problems]
    return ", ".join(names) if names else "none"


def _methods_differ(a: Analysis) -> tuple[str, str]:
    test = a.friedman
    return (
        HOLDS if test.p < 0.01 else FAILS,
        f"Friedman p = {test.p:.1e} over {test.methods} methods and {test.problems} problems",
    )


def _beats_fixed(a: Analysis) -> tuple[str, str]:
    rows = {row.other: row for row in a.posthoc_of(LEARNED)}
    rank = {r.method: r.rank for r in a.ranks}
    better = [m for m in FIXED if rows[m].li < ALPHA and rank[LEARNED] < rank[m]]
    parts = ", ".join(f"{m} {rows[m].li:.2g}" for m in FIXED)
    return _share(
        len(better), len(FIXED)
    ), f"Li p-values: {parts}; better in the mean ranks and significant: {len(better)} of 5"


def _others_not_significant(a: Analysis) -> tuple[str, str]:
    rows = {row.other: row for row in a.posthoc_of(LEARNED)}
    others = [m for m in (*AOS, *CMA, "ddqn-r1", "ddqn-r3") if m in rows]
    same = [m for m in others if rows[m].li >= ALPHA]
    parts = ", ".join(f"{m} {rows[m].li:.2g}" for m in others)
    return _share(len(same), len(others)), f"Li p-values: {parts}"


def _rewards_alike(a: Analysis) -> tuple[str, str]:
    rows = {row.other: row for row in a.posthoc_of(LEARNED)}
    p = [rows[m].li for m in ("ddqn-r1", "ddqn-r3")]
    return HOLDS if min(p) >= ALPHA else FAILS, f"Li p-values: R1 {p[0]:.2g}, R3 {p[1]:.2g}"


def _r2_best_reward(a: Analysis) -> tuple[str, str]:
    rank = {r.method: r.rank for r in a.ranks}
    best = min(REWARDS, key=lambda m: rank[m])
    return HOLDS if best == LEARNED else FAILS, "mean ranks: " + ", ".join(f"{m} {rank[m]:.2f}" for m in REWARDS)


def _like_cma(a: Analysis) -> tuple[str, str]:
    rows, rank = {row.other: row for row in a.posthoc_of(LEARNED)}, {r.method: r.rank for r in a.ranks}
    alike = [m for m in CMA if rows[m].li >= ALPHA]
    parts = ", ".join(f"{m} rank {rank[m]:.2f} (Li p {rows[m].li:.2g})" for m in CMA)
    return _share(len(alike), len(CMA)), f"{LEARNED} rank {rank[LEARNED]:.2f}; {parts}"


def _lowest_minimum(a: Analysis) -> tuple[str, str]:
    lower = _where(a, lambda e: e[0].min() < min(e[1].min(), e[2].min()))
    said = [p for p in a.problems if p not in ("cec2005:F9/d10", "cec2005:F16/d30")]
    return _share(len(set(lower) & set(said)), len(said)), f"lowest minimum of the three on {_short(lower)}"


def _better_median(a: Analysis) -> tuple[str, str]:
    better = _where(a, lambda e: np.median(e[0]) < min(np.median(e[1]), np.median(e[2])))
    verdict = HOLDS if len(better) >= 6 else (PARTLY if len(better) >= 4 else FAILS)
    return verdict, f"best median of the three on {len(better)} of {len(a.problems)}: {_short(better)}"


def _f3_consistent(a: Analysis) -> tuple[str, str]:
    wanted = ("cec2005:F3/d10", "cec2005:F3/d30")
    good = _where(a, lambda e: _median_and_std_lower(e), wanted)
    return _share(len(good), len(wanted)), f"lowest median and lowest std of the three on {_short(good)}"


def _f18_f23_minimum(a: Analysis) -> tuple[str, str]:
    wanted = ("cec2005:F18/d10", "cec2005:F23/d10")
    good = _where(a, lambda e: e[0].min() < min(e[1].min(), e[2].min()), wanted)
    return _share(len(good), len(wanted)), f"lowest minimum of the three on {_short(good)}"


def _higher_variance(a: Analysis) -> tuple[str, str]:
    wanted = ("cec2005:F16/d30", "cec2005:F23/d30")
    good = _where(a, lambda e: np.std(e[0]) > max(np.std(e[1]), np.std(e[2])), wanted)
    return _share(len(good), len(wanted)), f"largest std of the three on {_short(good)}"


def _all_beat_fixed(a: Analysis) -> tuple[str, str]:
    rank = {r.method: r.rank for r in a.ranks}
    worst, best = max(rank[m] for m in REWARDS), min(rank[m] for m in FIXED)
    mean = {m: a.samples.pool((m,)).means()[0] for m in (*REWARDS, *FIXED)}
    won = sum(int(np.sum(mean[m] < mean[f])) for m in REWARDS for f in FIXED)
    of = len(REWARDS) * len(FIXED) * len(a.samples.complete_problems)
    verdict = HOLDS if worst < best else (PARTLY if min(rank[m] for m in REWARDS) < best else FAILS)
    ranks = f"worst rank of the three {worst:.2f}, best of the five {best:.2f}"
    return verdict, f"lower mean error in {won} of {of} comparisons; {ranks}"


def _second_to_ipop(a: Analysis) -> tuple[str, str]:
    order = [r.method for r in a.ranks]
    position = order.index(LEARNED) + 1
    verdict = HOLDS if order[:2] == ["ipop-cmaes", LEARNED] else FAILS
    return verdict, f"{LEARNED} is number {position} of {len(order)}; first is {order[0]}"


def _median_and_std_lower(errors: list[np.ndarray]) -> bool:
    mine, *others = errors
    return bool(np.median(mine) < min(np.median(e) for e in others) and np.std(mine) < min(np.std(e) for e in others))


def _where(a: Analysis, test: Callable[[list[np.ndarray]], object], problems: Iterable[str] | None = None) -> list[str]:
    """Problems on which a statement about the three methods of Fig. 1 is true."""
    chosen = [p for p in (problems or a.problems) if p in a.samples.complete_problems]
    return [p for p in chosen if test([a.samples.of(m, p) for m in FIG_1])]


CLAIMS: tuple[tuple[str, str, tuple[str, ...], Judge], ...] = (
    ("5.2", "The 13 methods differ (Friedman, p < .01).", (), _methods_differ),
    ("5.2", "DE-DDQN2 is significantly better than Random and DE1-DE4.", (LEARNED, *FIXED), _beats_fixed),
    ("5.2", "It does not differ significantly from the other methods.", (LEARNED, *AOS), _others_not_significant),
    ("5.2", "The three rewards do not differ significantly.", REWARDS, _rewards_alike),
    ("5.2", "R2 ranks best of the three rewards.", REWARDS, _r2_best_reward),
    ("5.2", "DE with operator selection performs like the CMA-ES variants.", (LEARNED, *CMA), _like_cma),
    (
        "5.2, Fig. 1",
        "DE-DDQN2 has the lowest minimum of 25 runs on all problems except F9-10 and F16-30.",
        FIG_1,
        _lowest_minimum,
    ),
    ("5.2, Fig. 1", "On F18-10 and F23-10 it still finds the best overall solution.", FIG_1, _f18_f23_minimum),
    ("5.2, Fig. 1", "Its median is better on six of ten problems.", FIG_1, _better_median),
    ("5.2, Fig. 1", "On F3 it is consistently good; the others have higher error and variance.", FIG_1, _f3_consistent),
    ("5.2, Fig. 1", "On F16-30 and F23-30 it has the higher variance.", FIG_1, _higher_variance),
    ("6", "All three DE-DDQN beat all non-adaptive methods in mean error.", (*REWARDS, *FIXED), _all_beat_fixed),
    ("6", "DE-DDQN2 ranks second, after IPOP-CMAES.", (LEARNED, *CMA), _second_to_ipop),
)
"""Where, what, which methods it takes to check, and how."""


def judge_claims(analysis: Analysis) -> list[Claim]:
    """Every claim with its verdict; those about methods or problems that did not run are not checked."""
    on_paper_problems = analysis.comparable and set(analysis.problems) == set(paper_problems())
    claims = []
    for number, (where, text, needed, judge) in enumerate(CLAIMS, start=1):
        lacking = [m for m in needed if m not in analysis.methods]
        if lacking:
            verdict, evidence = UNCHECKED, f"did not run: {', '.join(lacking)}"
        elif not on_paper_problems or not analysis.ranks:
            verdict, evidence = UNCHECKED, "needs the paper's ten problems and its budget"
        else:
            verdict, evidence = judge(analysis)
        claims.append(Claim(number, where, text, verdict, evidence))
    return claims
