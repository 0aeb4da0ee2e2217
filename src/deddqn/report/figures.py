"""The charts of the page as PDF and PNG figures for papers and slides; matplotlib is their canvas."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Circle as CirclePatch
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline

from deddqn._utils.atomic import replacing
from deddqn.analysis.comparison import Analysis
from deddqn.analysis.curves import (
    FIG_1,
    SharePanel,
    box_panels,
    convergence_panels,
    cost_bars,
    rank_figure,
    share_panels,
)
from deddqn.analysis.ecdf import ecdf
from deddqn.analysis.tables import method_title, short_problem
from deddqn.report import charts
from deddqn.report.drawing import Area, Circle, Drawing, Group, Line, Shape, Text, rectangle
from deddqn.report.style import operator_colour, style_of

PIXELS = 110.0  # of a drawing per inch of paper
POINTS = 72.0 / PIXELS
LABEL, TICK = (10.5, "#1c2330"), (10.0, "#5d6675")  # size in pixels and colour of text, as in page.css
CAPTION, GAP = 18.0, 10.0  # room for the title of a panel, and between panels
ANCHORS = {"": "left", "start": "left", "middle": "center", "end": "right"}
SWATCH, ROW = 24.0, 16.0  # of a legend: the length of a swatch, and the height of a row


@dataclass(frozen=True)
class Key:
    """An entry of a legend: a line where there is a dash pattern, which may be empty, else a square."""

    name: str
    colour: str
    dash: str | None = None

    def swatch(self, x: float, y: float) -> Shape:
        """What stands before the name."""
        if self.dash is None:
            return Area(rectangle(x + SWATCH - 11, y - 5, 11, 11), self.colour)
        return Line([(x, y), (x + SWATCH, y)], self.colour, width=1.6, dash=self.dash)


@dataclass(frozen=True)
class Sheet:
    """Drawings side by side under their captions, and a legend below."""

    panels: Sequence[tuple[str, Drawing]]
    columns: int
    legend: Sequence[Key] = ()

    def draw(self) -> Figure:
        """The figure."""
        columns = min(self.columns, len(self.panels))
        rows = [self.panels[k : k + columns] for k in range(0, len(self.panels), columns)]
        wide = max(drawing.width for _, drawing in self.panels) + GAP
        tall = [max(drawing.height for _, drawing in row) + CAPTION + GAP for row in rows]
        width = columns * wide + GAP
        legend = _legend(self.legend, width)
        canvas = _Canvas(width, sum(tall) + GAP + legend.height)
        y = GAP
        for row, height in zip(rows, tall, strict=True):
            for k, (caption, drawing) in enumerate(row):
                canvas.caption(caption, GAP + k * wide, y + CAPTION - 6)
                canvas.add(drawing.shapes, GAP + k * wide, y + CAPTION)
            y += height
        canvas.add(legend.shapes, 0.0, y)
        return canvas.figure


class _Canvas:
    """A matplotlib figure with one pair of axes that measures pixels downwards."""

    def __init__(self, width: float, height: float) -> None:
        self.figure = Figure(figsize=(width / PIXELS, height / PIXELS))
        cast(Any, FigureCanvasAgg)(self.figure)
        self.axes: Any = self.figure.add_axes((0.0, 0.0, 1.0, 1.0))
        self.axes.set(xlim=(0.0, width), ylim=(height, 0.0))
        self.axes.set_axis_off()

    def caption(self, content: str, x: float, y: float) -> None:
        """The title of a panel."""
        self._write(content, x, y, size=LABEL[0] + 1.0, color=LABEL[1], weight="bold")

    def add(self, shapes: Iterable[Shape], x: float, y: float) -> None:
        """Shapes, moved to the right and down; those that a page shows on demand stay hidden."""
        for shape in shapes:
            if isinstance(shape, Group):
                self.add(shape.shapes, x, y)
            elif isinstance(shape, Text):
                self._text(shape, x, y)
            elif isinstance(shape, Circle):
                style = _style(shape.fill, 1.0, shape.stroke, shape.width)
                self._put(CirclePatch((shape.x + x, shape.y + y), shape.radius, **style))
            elif isinstance(shape, Line):
                style = _style("none", 1.0, shape.stroke, shape.width, shape.opacity)
                dash = (0, tuple(POINTS * float(part) for part in shape.dash.split())) if shape.dash else "-"
                outline = Outline([(px + x, py + y) for px, py in shape.points])
                self._put(PathPatch(outline, linestyle=dash, joinstyle="round", capstyle="butt", **style))
            elif not shape.hidden:
                points = [(px + x, py + y) for px, py in shape.points]
                style = _style(shape.fill, shape.opacity, shape.stroke, 1.0)
                self._put(PathPatch(Outline([*points, points[0]], closed=True), **style))

    def _put(self, patch: Any) -> None:
        patch.set_zorder(1)
        patch.set_clip_on(False)
        self.axes.add_artist(patch)

    def _text(self, text: Text, x: float, y: float) -> None:
        size, colour = TICK if text.tick else LABEL
        turned: dict[str, Any] = {"rotation": 90, "rotation_mode": "anchor"} if text.upwards else {}
        where = (text.x + x, text.y + y)
        self._write(text.content, *where, size=size, color=colour, ha=ANCHORS[text.anchor], **turned)

    def _write(self, content: str, x: float, y: float, *, size: float, **style: Any) -> None:
        self.axes.text(x, y, content, fontsize=size * POINTS, va="baseline", zorder=2, parse_math=False, **style)


def _style(fill: str, fill_opacity: float, stroke: str, width: float, opacity: float = 1.0) -> dict[str, Any]:
    return {
        "facecolor": "none" if fill == "none" else (fill, fill_opacity),
        "edgecolor": (stroke, opacity) if stroke else "none",
        "linewidth": width * POINTS if stroke else 0.0,
    }


def _legend(keys: Sequence[Key], width: float) -> Drawing:
    """Swatches with their names, in columns as wide as the longest."""
    if not keys:
        return Drawing(width, 0.0, [], "")
    step = SWATCH + 14 + charts.LETTER * max(len(key.name) for key in keys)
    across = max(1, min(len(keys), int((width - 2 * GAP) // step)))
    left = max(GAP, (width - across * step) / 2)
    shapes: list[Shape] = []
    for k, key in enumerate(keys):
        x, y = left + step * (k % across), 10.0 + ROW * (k // across)
        shapes += [key.swatch(x, y), Text(x + SWATCH + 4, y + 3.5, key.name, tick=False)]
    return Drawing(width, ROW * -(-len(keys) // across) + GAP, shapes, "legend")


def sheets_of(a: Analysis) -> dict[str, Sheet]:
    """The figures that the data allow, by name."""
    chosen = tuple(m for m in FIG_1 if m in a.methods)
    methods = [Key(method_title(m), *style_of(m, a.methods)) for m in a.methods]
    shares, ranks = share_panels(a), rank_figure(a)
    found: dict[str, Sheet] = {}
    if len(chosen) > 1:
        found["boxes-fig1"] = Sheet(_boxes(a, chosen), columns=2)
    found["boxes"] = Sheet(_boxes(a, a.methods), columns=3)
    convergence = [(short_problem(p.title), charts.curve_chart(p, a.methods)) for p in convergence_panels(a)]
    found["convergence"] = Sheet(convergence, 3, methods)
    reached = charts.curve_chart(ecdf(a).panel, a.methods, shares=True)
    found["ecdf"] = Sheet([("Targets reached", reached)], 1, methods)
    if shares:
        operators = [Key(name, operator_colour(k)) for k, name in enumerate(shares[0].operators)]
        found["strategies"] = Sheet(_shares(shares), len({s.problem for s in shares}), operators)
    if a.ranks:
        drawn = charts.rank_chart(ranks, a.methods, {m: a.paper_rank(m) for m in a.methods})
        critical = charts.critical_chart(ranks, a.methods)
        found["ranks"] = Sheet([("Mean ranks", drawn), ("Critical difference (Nemenyi, 5%)", critical)], columns=1)
    found["cost"] = Sheet([("CPU time per evaluation, µs", charts.cost_chart(cost_bars(a), a.methods))], columns=1)
    return found


def _boxes(a: Analysis, methods: tuple[str, ...]) -> list[tuple[str, Drawing]]:
    return [(short_problem(p.problem), charts.box_chart(p, a.methods)) for p in box_panels(a, methods)]


def _shares(panels: list[SharePanel]) -> list[tuple[str, Drawing]]:
    """Methods down, problems across; nothing where a method did not choose."""
    drawn = {(p.method, p.problem): charts.share_chart(p) for p in panels}
    size = next(iter(drawn.values()))
    blank = Drawing(size.width, size.height, [], "")
    return [
        (f"{method_title(m)}, {short_problem(p)}" if (m, p) in drawn else "", drawn.get((m, p), blank))
        for m in dict.fromkeys(p.method for p in panels)
        for p in dict.fromkeys(p.problem for p in panels)
    ]


def write_figures(a: Analysis, folder: Path) -> list[Path]:
    """Every figure as PDF and PNG."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, sheet in sheets_of(a).items():
        figure = sheet.draw()
        for ending in ("pdf", "png"):
            written.append(folder / f"{name}.{ending}")
            with replacing(written[-1]) as temporary:
                figure.savefig(temporary, dpi=150, format=ending)
    return written
