"""An animation as a GIF: the population on the contour of its function, coloured by what made each individual."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from deddqn._utils.atomic import replacing
from deddqn._utils.optional_imports import need
from deddqn._utils.validation import check_whole_number
from deddqn.analysis.tables import number
from deddqn.animation.trajectory import DRAWN_AT_START, Animation, Frame
from deddqn.report.style import operator_colour

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from PIL.Image import Image

LEVELS = 11
START = "#ffffff"  # the colour of individuals that were drawn at the start
INK, SOFT = "#1c2330", "#5d6675"
SIZE, DOTS = (7.2, 4.0), 100  # inches, dots per inch
COLOURS = 56  # beside those that mean something
NEAR = 8  # a found colour that is nearer to one that means something gives way
DEPTH = ("#7d93b2", "#c3cedd", "#f4f6f9")  # of the contour, from deep to high
TITLE = 28  # letters that fit beside the map
FINE = 200  # steps of a share
ROW, ROWS = 0.043, 0.46  # of the legend: the height of one at most, and of all together
LEGEND, FOOT = 0.70, 0.12  # where the legend begins, and where the shares end
HOLD = 12  # times that the first and the last image are shown


def write_gif(animation: Animation, path: str | os.PathLike[str], *, between: int = 3, milliseconds: int = 70) -> Path:
    """Write the animation to `path`; `between` images per generation show the movement of the individuals."""
    check_whole_number("between", between, 1)
    check_whole_number("milliseconds", milliseconds, 20)
    images = list(_images(animation, between))
    from PIL import Image as Images  # comes with matplotlib, which has been asked for by now

    palette = _palette(animation, images)
    flat = [image.quantize(palette=palette, dither=Images.Dither.NONE) for image in images]
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    durations = [milliseconds * (HOLD if k in (0, len(flat) - 1) else 1) for k in range(len(flat))]
    with replacing(target) as temporary:
        flat[0].save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=flat[1:],
            duration=durations,
            loop=0,
            optimize=False,
            disposal=1,
        )
    return target


def _palette(animation: Animation, images: list[Image]) -> Image:
    """The colours that mean something, and those that the images need besides."""
    from PIL import Image as Images
    from PIL import ImageColor

    chosen = [images[0], images[len(images) // 3], images[-1]]
    width, height = chosen[0].size
    together = Images.new("RGB", (width, height * len(chosen)))
    for k, image in enumerate(chosen):
        together.paste(image, (0, height * k))
    meant = np.array([ImageColor.getrgb(c) for c in (START, INK, *map(_colour, range(len(animation.operators))))])
    found = np.array(together.quantize(COLOURS, dither=Images.Dither.NONE).getpalette()).reshape(-1, 3)[:COLOURS]
    near = np.abs(found[:, None] - meant).max(axis=2).min(axis=1) < NEAR
    palette = Images.new("P", (1, 1))
    palette.putpalette(np.concatenate([meant, found[~near]]).ravel().tolist())
    return palette


def _images(animation: Animation, between: int) -> Iterator[Image]:
    """All images, one after the other."""
    renderer = FrameRenderer(animation)
    from PIL import Image as Images

    for generation in range(len(animation.frames)):
        for part in [1.0] if generation == 0 else [(k + 1) / between for k in range(between)]:
            renderer.show(generation, part)
            yield Images.fromarray(renderer.pixels()).convert("RGB")


class FrameRenderer:
    """The image that is changed from frame to frame: the contour stays, individuals, shares and numbers move."""

    def __init__(self, animation: Animation) -> None:
        need("matplotlib", "an animation", "report")
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.colors import to_rgb
        from matplotlib.figure import Figure

        self.animation = animation
        self.figure: Figure = Figure(figsize=SIZE, dpi=DOTS, facecolor="white")
        self.canvas = cast(Any, FigureCanvasAgg)(self.figure)
        self.map = self.figure.add_axes((0.015, 0.02, 0.53, 0.96))
        self.row = min(ROW, ROWS / (1 + len(animation.operators)))
        room = LEGEND - self.row * (len(animation.operators) + 1) - FOOT
        self.over_time = self.figure.add_axes((0.61, FOOT, 0.37, min(0.34, room)))
        self.paints = [to_rgb(_colour(op)) for op in range(len(animation.operators))]
        self._draw_contour()
        self._draw_shares()
        self.ways = _no_ways(self.map)
        self.dots = self.map.scatter([], [], s=30, edgecolors=INK, linewidths=0.6, zorder=4)
        self.words = [self.figure.text(0.61, y, "", fontsize=10, color=INK, va="top") for y in (0.845, 0.79)]
        self._draw_legend()

    def _draw_contour(self) -> None:
        animation, axes = self.animation, self.map
        heights = np.log1p(animation.heights) if animation.heights.max() > 1e4 else animation.heights
        levels = np.unique(np.quantile(heights, np.linspace(0.0, 1.0, LEVELS + 1)))
        across, down = (np.linspace(animation.lower[d], animation.upper[d], heights.shape[0]) for d in (0, 1))
        axes.contourf(across, down, heights, levels, colors=_shades(len(levels) - 1), antialiased=False)
        axes.set(
            xticks=[],
            yticks=[],
            xlim=(animation.lower[0], animation.upper[0]),
            ylim=(animation.lower[1], animation.upper[1]),
        )
        for side in axes.spines.values():
            side.set_visible(False)

    def _draw_shares(self) -> None:
        axes, last = self.over_time, max(len(self.animation.frames) - 1, 1)
        self.columns = np.ones((FINE, last, 3))
        self.shares = axes.imshow(
            self.columns, origin="lower", aspect="auto", interpolation="nearest", extent=(0, last, 0, 1)
        )
        axes.set(xlim=(0, last), ylim=(0, 1), yticks=[0, 1], yticklabels=["0", "1"])
        axes.set_xlabel("generation", fontsize=9, color=SOFT)
        axes.set_ylabel("share", fontsize=9, color=SOFT, labelpad=-4)
        axes.tick_params(labelsize=8, colors=SOFT, length=2)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)

    def _draw_legend(self) -> None:
        animation, words = self.animation, self.figure.text
        size = min(11.0, 11.0 * TITLE / len(animation.title))
        words(0.61, 0.965, animation.title, fontsize=size, color=INK, va="top", weight="bold")
        words(0.61, 0.905, f"strategies chosen by {animation.policy!r}", fontsize=9.5, color=SOFT, va="top")
        names = ["drawn at the start", *animation.operators]
        for k, name in enumerate(names):
            y = LEGEND - self.row * k
            mark: dict[str, Any] = {
                "marker": "o",
                "markersize": 6,
                "markeredgecolor": INK,
                "markeredgewidth": 0.6,
                "linestyle": "",
            }
            self.over_time.plot(
                [0.622], [y], color=_colour(k - 1), transform=self.figure.transFigure, clip_on=False, **mark
            )
            words(0.64, y, name, fontsize=9.5, color=INK, va="center")

    def show(self, generation: int, part: float) -> None:
        """Put the image `part` of the way from the generation before to this one."""
        frame = self.animation.frames[generation]
        before = self.animation.frames[max(generation - 1, 0)]
        eased = part * part * (3.0 - 2.0 * part)
        points = before.points + eased * (frame.points - before.points)
        colours = [_colour(int(maker)) for maker in frame.makers]
        self.dots.set_offsets(points)
        self.dots.set_facecolor(colours)
        moved = (frame.points != before.points).any(axis=1)
        self.ways.set_segments(list(np.stack([before.points[moved], points[moved]], axis=1)))
        self.ways.set_colors([colours[k] for k in np.flatnonzero(moved)])
        self.words[0].set_text(f"{frame.evaluations} evaluations")
        self.words[1].set_text(f"{self.animation.measured} {number(frame.best)}")
        self._show_shares(self.animation.frames[1 : generation + 1])

    def _show_shares(self, frames: tuple[Frame, ...]) -> None:
        """One column of pixels per generation, as high as the shares."""
        for k, frame in enumerate(frames):
            ends = np.round(np.cumsum(frame.shares) * FINE).astype(int)
            for op, (first, last) in enumerate(zip([0, *ends], ends, strict=False)):
                self.columns[first:last, k] = self.paints[op]
        self.shares.set_data(self.columns)

    def pixels(self) -> np.ndarray:
        """The image as (height, width, 4) bytes."""
        self.canvas.draw()
        return np.asarray(self.canvas.buffer_rgba()).copy()


def _shades(count: int) -> list[str]:
    """From the deepest level to the highest."""
    from matplotlib.colors import LinearSegmentedColormap, to_hex

    steps = LinearSegmentedColormap.from_list("depth", list(DEPTH), N=count)
    return [to_hex(steps(k)) for k in range(count)]


def _colour(op: int) -> str:
    return START if op == DRAWN_AT_START else operator_colour(op)


def _no_ways(axes: Any) -> Any:
    """The ways of the individuals in the image, none yet."""
    from matplotlib.collections import LineCollection

    ways = LineCollection([], linewidths=1.2, alpha=0.8, zorder=3)
    axes.add_collection(ways)
    return ways
