"""The papers' figure 4: time of a fit against the number of rows, all systems."""

from __future__ import annotations

from io import BytesIO
from statistics import median
from typing import Any

from rffboost_ext.experiments.compare.plots import COLOURS, MARKERS
from rffboost_ext.inspection.plot_style import style_axes

from .systems import SYSTEMS, Array, Fit, figure_data
from .timing import seconds

SMALLEST, FACTOR, LARGEST = 150, 1.5, 4_000_000
Curve = list[tuple[int, float]]


def curves(limit: float, threads: int, rounds: int = 100, largest: int = LARGEST) -> dict[str, Curve]:
    """Time every system on more and more rows, in turns, each until a fit takes longer than the limit.

    Parameters
    ----------
    limit : float
        Seconds; the fit that exceeds them is the last one of its system.
    threads, rounds, largest : int
        Threads, boosting rounds and the number of rows beyond which no system goes.

    Returns
    -------
    dict
        Per system its (n, seconds), n growing.
    """
    found: dict[str, Curve] = {name: [] for name in SYSTEMS}
    X, y = figure_data(SMALLEST)
    for fit in SYSTEMS.values():
        fit(X, y, 2, threads)
    n = SMALLEST
    running = dict(SYSTEMS)
    while running and n <= largest:
        data = figure_data(n)
        for name, fit in list(running.items()):
            found[name].append((n, duration(fit, data, rounds, threads, limit)))
            if found[name][-1][1] > limit:
                del running[name]
        n = round(n * FACTOR)
    return found


def duration(fit: Fit, data: tuple[Array, Array], rounds: int, threads: int, limit: float) -> float:
    """Seconds of one fit: the median of five, or of one where it takes more than a twentieth of the limit."""
    X, y = data
    times = [seconds(lambda: fit(X, y, rounds, threads))]
    if times[0] < limit / 20:
        times += [seconds(lambda: fit(X, y, rounds, threads)) for _ in range(4)]
    return median(times)


def draw(found: dict[str, Curve], threads: int, format: str = "png") -> bytes:
    """The figure as a file of that format; the plain version of an algorithm has its colour, dashed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 5), layout="constrained", dpi=150)
    axes = figure.subplots()
    algorithms = list(dict.fromkeys(name.partition(",")[0] for name in found))
    for name, curve in found.items():
        algorithm, _, plain = name.partition(", ")
        index = algorithms.index(algorithm)
        style: dict[str, Any] = {
            "color": COLOURS[index],
            "marker": MARKERS[index],
            "linestyle": "--" if plain else "-",
        }
        axes.plot(*zip(*curve, strict=True), label=name, ms=4, linewidth=1.4, **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("rows, of 20 features")
    axes.set_ylabel("seconds per fit")
    axes.set_title(f"Time of a fit of 100 rounds or trees of depth 5, threads: {threads}", fontsize=10)
    axes.legend(frameon=False)
    style_axes(axes, "both")
    buffer = BytesIO()
    figure.savefig(buffer, format=format)
    return buffer.getvalue()
