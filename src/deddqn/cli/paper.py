"""``deddqn paper``: the paper's Tables 4 and 5, computed again from its own numbers."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from deddqn.analysis.paper_tables import PRINTED, paper_friedman, recompute_li, recompute_ranks

SLIPS = """\
equal printed means: the printed rank lies between those of the two orders; the digits that decide are not printed.
Slips of the paper: Table 5 prints .00008 for DE4, more than for DE2, whose statistic is smaller. The standard
deviations of AdapSS and F-AUC on F3 look exchanged in Table 3: 3.37e4 (3.62e5) and 3.53e5 (1.65e4) at D = 10, and
the same at D = 30."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """There is nothing to choose."""


def run(options: Options) -> int:
    """Print both tables beside the printed ones; status 1 if a difference is not a known one."""
    console = Console()
    ranks, comparisons, test = recompute_ranks(), recompute_li(), paper_friedman()
    table = Table("method", "printed", "computed", "", title="Table 4: mean ranks, from the means of Table 3")
    for line in ranks:
        table.add_row(PRINTED[line.method], f"{line.printed:.1f}", f"{line.computed:.2f}", line.remark)
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
    console.print(SLIPS)
    remarks = [line.remark for line in ranks] + [row.remark for row in comparisons]
    return int("differs" in remarks)
