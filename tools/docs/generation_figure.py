"""The state diagram of one generation, docs/images/generation.svg: ``python -m tools.docs.generation_figure``.

States are those of one individual, after the counters of `deddqn.de.state` (DONORS_DRAWN, PROPOSED, TOLD, RECORDED).
"""

from __future__ import annotations

from html import escape
from pathlib import Path

FILE = Path(__file__).parents[2] / "docs" / "images" / "generation.svg"
WIDTH, HEIGHT, BOX_WIDTH, BOX_HEIGHT = 960, 470, 190, 96
INK, SEQUENTIAL, DEFERRED = "#1f2933", "#0b6e6e", "#b4530a"

BOXES = {
    "drawn": (20, 110, "drawn", ("donors r1..r5", "features of the state")),
    "asked": (260, 110, "asked", ("operator selected,", "candidates pre-screened,", "trial u made")),
    "told": (500, 110, "told", ("f(u) is known",)),
    "recorded": (740, 110, "recorded", ("outcome, reward, history;", "the policy learns")),
    "selection": (740, 320, "selection", ("success history, archive,", "replacement,", "population reduction")),
    "restart": (380, 320, "restart", ("a new population", "is evaluated;", "no decisions")),
    "ended": (20, 320, "ended", ("the result is", "the best solution so far")),
}
"""State -> x, y, name, and what has happened."""

Point = tuple[int, int]
ARROWS: tuple[tuple[tuple[Point, ...], str, str, Point], ...] = (
    (((210, 158), (260, 158)), INK, "", (0, 0)),
    (((450, 158), (500, 158)), INK, "", (0, 0)),
    (((690, 158), (740, 158)), INK, "", (0, 0)),
    (((835, 110), (835, 40), (90, 40), (90, 110)), SEQUENTIAL, "sequential: the next individual", (480, 32)),
    (((355, 110), (355, 80), (140, 80), (140, 110)), DEFERRED, "deferred: until all are asked", (248, 72)),
    (((560, 110), (560, 80), (640, 80), (640, 110)), DEFERRED, "deferred: until all are told", (600, 72)),
    (((835, 206), (835, 320)), INK, "all individuals recorded", (748, 272)),
    (((740, 345), (655, 345), (655, 240), (115, 240), (115, 206)), INK, "the next generation", (385, 232)),
    (((740, 378), (570, 378)), INK, "converged", (655, 370)),
    (((475, 320), (475, 264), (75, 264), (75, 206)), INK, "", (0, 0)),
    (((835, 416), (835, 448), (115, 448), (115, 416)), INK, "budget used or target reached", (475, 440)),
)
"""Points of a line, its colour, its label and where that stands."""


def _box(x: int, y: int, name: str, lines: tuple[str, ...]) -> str:
    middle = x + BOX_WIDTH // 2
    style = f'text-anchor="middle" fill="{INK}"'
    texts = [f'<text x="{middle}" y="{y + 24}" font-weight="bold" {style}>{name}</text>']
    texts += [
        f'<text x="{middle}" y="{y + 46 + 18 * k}" font-size="13" {style}>{escape(line)}</text>'
        for k, line in enumerate(lines)
    ]
    size = f'width="{BOX_WIDTH}" height="{BOX_HEIGHT}"'
    return f'<rect x="{x}" y="{y}" {size} rx="8" fill="#f3f6f8" stroke="{INK}"/>' + "".join(texts)


def _arrow(points: tuple[Point, ...], colour: str, label: str, at: Point) -> str:
    path = " ".join(f"{x},{y}" for x, y in points)
    line = (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="1.6" marker-end="url(#{colour[1:]})"/>'
    )
    if not label:
        return line
    return line + f'<text x="{at[0]}" y="{at[1]}" font-size="13" text-anchor="middle" fill="{colour}">{label}</text>'


def draw() -> str:
    """The figure as SVG, on a background of its own: it is shown on light and on dark pages."""
    heads = "".join(
        f'<marker id="{colour[1:]}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
        for colour in (INK, SEQUENTIAL, DEFERRED)
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'font-family="sans-serif" font-size="15" role="img">',
        "<title>One generation: each individual is drawn, asked, told and recorded; then selection</title>",
        f"<defs>{heads}</defs>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="10" fill="#ffffff"/>',
        *(_arrow(*arrow) for arrow in ARROWS),
        *(_box(*box) for box in BOXES.values()),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    FILE.write_text(draw(), encoding="utf-8")
