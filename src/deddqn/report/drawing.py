"""Charts as drawings: shapes in pixels, written as SVG for pages, and drawn by matplotlib as PDF and PNG (`figures`).

Every chart is laid out once, in Python. matplotlib's own charts cannot serve the pages: a panel takes 60 to 200 ms and
20 to 35 kB of SVG, a report has 150 panels, and the groups, classes and titles that the script of the page needs would
have to be put in afterwards. SVG alone cannot serve papers: no PDF follows from it without a further library. So
matplotlib is the canvas of the figures and no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from deddqn.report.scales import Scale, tick_label

GRID, AXIS = "#e6e9ef", "#444444"
Point = tuple[float, float]


def _element(name: str, inner: str = "", **attributes: object) -> str:
    """An element of SVG; attributes are escaped, those without a value left out. `inner` is SVG itself."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(str(value), quote=True)}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{inner}</{name}>" if inner else f"<{name}{written}/>"


def _path(points: Sequence[Point], end: str = "") -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + end


def _unless(value: float, default: float) -> str:
    """An attribute that is left out where it says nothing."""
    return "" if value == default else f"{value:g}"


@dataclass(frozen=True, slots=True)
class Line:
    """A line through points; the page finds it by its `kind`."""

    points: Sequence[Point]
    stroke: str = AXIS
    width: float = 1.0
    opacity: float = 1.0
    dash: str = ""
    kind: str = ""

    def svg(self) -> str:
        """As an element."""
        return _element(
            "path",
            class_=self.kind,
            stroke=self.stroke,
            stroke_width=_unless(self.width, 1.0),
            stroke_opacity=_unless(self.opacity, 1.0),
            stroke_dasharray=self.dash,
            fill="none" if len(self.points) > 2 else "",
            d=_path(self.points),
        )


@dataclass(frozen=True, slots=True)
class Area:
    """A polygon. One that is `hidden` is shown by the page when its group is pointed at, and nowhere else."""

    points: Sequence[Point]
    fill: str
    opacity: float = 1.0
    stroke: str = ""
    hidden: bool = False

    def svg(self) -> str:
        """As an element."""
        return _element(
            "path",
            class_="band" if self.hidden else "",
            fill=self.fill,
            fill_opacity=_unless(self.opacity, 1.0),
            stroke=self.stroke,
            d=_path(self.points, "Z"),
        )


@dataclass(frozen=True, slots=True)
class Circle:
    """A dot or a ring."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str = ""
    width: float = 1.0

    def svg(self) -> str:
        """As an element."""
        at = {"cx": f"{self.x:.1f}", "cy": f"{self.y:.1f}", "r": f"{self.radius:g}"}
        return _element("circle", **at, fill=self.fill, stroke=self.stroke, stroke_width=_unless(self.width, 1.0))


@dataclass(frozen=True, slots=True)
class Text:
    """A label, or in the small and grey letters of an axis (`tick`)."""

    x: float
    y: float
    content: str
    anchor: str = ""  # middle, end; the start by default
    tick: bool = True
    upwards: bool = False

    def svg(self) -> str:
        """As an element."""
        at: dict[str, Any] = {"x": f"{self.x:.1f}", "y": f"{self.y:.1f}"}
        if self.upwards:
            at = {"transform": f"translate({self.x:.1f} {self.y:.1f}) rotate(-90)"}
        kind = "tick" if self.tick else "name"
        return _element("text", escape(self.content), **at, class_=kind, text_anchor=self.anchor)


@dataclass(frozen=True, slots=True)
class Group:
    """Shapes with a tip for the pointer; those of a method can be hidden by the page's legend."""

    shapes: Sequence[Shape]
    tip: str
    method: str = ""

    def svg(self) -> str:
        """As an element."""
        inner = _element("title", escape(self.tip)) + "".join(shape.svg() for shape in self.shapes)
        return _element("g", inner, class_="s" if self.method else "", data_m=self.method)


Shape = Line | Area | Circle | Text | Group


@dataclass(frozen=True)
class Drawing:
    """A whole chart."""

    width: float
    height: float
    shapes: Sequence[Shape]
    label: str  # for those who cannot see it

    def __html__(self) -> str:
        """As SVG that scales with the page; templates insert what this gives without escaping it again."""
        inner = "".join(shape.svg() for shape in self.shapes)
        box, size = f"0 0 {self.width:g} {self.height:g}", f"max-width:{self.width * 1.6:g}px"
        return _element("svg", inner, viewBox=box, role="img", aria_label=self.label, style=size)


def rectangle(x: float, y: float, width: float, height: float) -> list[Point]:
    """Its corners."""
    return [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]


def horizontal_axis(scale: Scale, top: float, bottom: float, about: int = 5) -> list[Shape]:
    """Grid lines and numbers below."""
    shapes: list[Shape] = []
    for tick in scale.ticks(about):
        x = scale(tick)
        shapes += [Line([(x, top), (x, bottom)], GRID), Text(x, bottom + 13, tick_label(tick), "middle")]
    return shapes


def vertical_axis(scale: Scale, left: float, right: float, about: int = 5) -> list[Shape]:
    """Grid lines and numbers to the left."""
    shapes: list[Shape] = []
    for tick in scale.ticks(about):
        y = scale(tick)
        shapes += [Line([(left, y), (right, y)], GRID), Text(left - 4, y + 3.5, tick_label(tick), "end")]
    return shapes
