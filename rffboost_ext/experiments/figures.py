"""Colours, markers and curves of figures of systems."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from ..inspection.plot_style import CYCLE, style_axes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# With two of Tol's.
COLOURS = [*CYCLE, "#000000", "#882255", "#999999"]
MARKERS = "osD^vPX*<>"
MARKED = 20
"""Most points of a curve with markers."""


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of that size in inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained", dpi=150)


def as_bytes(figure: Figure, format: str = "png") -> bytes:
    """The figure as a file."""
    buffer = BytesIO()
    figure.savefig(buffer, format=format)
    return buffer.getvalue()


def style(index: int) -> dict[str, Any]:
    """Colour and marker of the system of that index."""
    return {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)]}


def set_log_scale(axes: Any) -> None:
    """A horizontal log scale with plain numbers."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter(NullFormatter())


def draw_curves(axes: Any, curves: Any) -> None:
    """A line per system along x, with markers unless there are many."""
    markers = {"marker": ""} if len(curves) > MARKED else {}
    for index, name in enumerate(curves.columns):
        line = curves[name].dropna()
        axes.plot(line.index, line, label=str(name), ms=4, linewidth=1.5, **style(index) | markers)
    style_axes(axes, "both")
