"""``deddqn paper``: the paper's Tables 4 and 5, computed again from its own numbers."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from deddqn.analysis.paper_tables import PRINTED, paper_friedman, recompute_li, recompute_ranks


@dataclass(frozen=True, kw_only=True)
class Options:
    """There is nothing to choose."""


def run(options: Options) -> int:
    """Print both tables beside the printed ones; status 1 if a difference is not a known one."""
    console = Console()
    ranks, comparisons, test = recompute_ranks(), recompute_li(), paper_friedman()
    table = Table("method", "printed", "computed", "difference", title="Table 4: mean ranks, from the means of Table 3")
    for line in ranks:
        note = f"{line.difference:+.2f}" if abs(line.difference) > 1e-9 else ""
        table.add_row(PRINTED[line.method], f"{line.printed:.1f}", f"{line.computed:.2f}", note)
    console.print(table)
    console.print(
        f"Friedman: chi-square {test.chi_square:.2f}, p = {test.p:.1e}; "
        f"Iman-Davenport: F = {test.f_statistic:.2f}, p = {test.f_p:.1e} (the paper: p < .01)\n"
    )
    title = "Table 5: Li against DDQN2, from the ranks of Table 4"
    table = Table("other", "statistic printed", "computed", "adjusted p printed", "computed", "", title=title)
    for row in comparisons:
        numbers = (f"{row.printed_statistic:.5f}", f"{row.statistic:.5f}", f"{row.printed_p:.5f}", f"{row.p:.5f}")
        table.add_row(PRINTED[row.other], *numbers, row.remark)
    console.print(table)
    console.print(f"largest difference of ranks: {max(abs(line.difference) for line in ranks):.2f}")
    return 0 if all(line.agrees for line in ranks) and all(row.remark != "differs" for row in comparisons) else 1
