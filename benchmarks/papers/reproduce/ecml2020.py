"""ECML-PKDD 2020, Table 2 and Figures 2, 3 and 4: systems tuned on 20 splits of 70/30, and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pandas as pd

from rffboost_ext.experiments.figures import new_figure, style
from rffboost_ext.experiments.records import Key, Record
from rffboost_ext.experiments.summary import curves

from ...study import Study, Task
from .comparison import PublishedComparison, averaging_line, complete_sets, curve_table, far_lines, published
from .figures import curve_figure
from .grid_search import SystemPath
from .papers import ECML_2020
from .splits import CrossValidated
from .target import CurveTarget, Scope, TableTarget, Target, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETS = (
    *("wine", "sonar", "newthyroid", "heart", "bupa", "iono", "wdbc", "balance", "australian", "pima"),
    *("vehicle", "german", "splice", "spambase", "occupancy", "bankmarketing"),
)
PROTOCOL = (
    "Random 70/30 splits, stratified by class, features standardised on the rows of each fit, hyperparameters by "
    "5-fold cross-validation on the training part over the paper's grids. GBRFF1 and GBRFF2 have the draws of the "
    "published experiments (seed 1)."
)
SPLITTER = CrossValidated(0.3)
GERMAN = "The published experiments use 23 of the 24 features, as here; the first column is dropped there."


class EcmlTable2(TableTarget):
    """Table 2: six systems on sixteen data sets."""

    name = "ecml2020-table2"
    title = "ECML-PKDD 2020, Table 2: test accuracy of six systems"
    about = (
        f"{PROTOCOL} 100 rounds, landmarks or frequencies. Test accuracy in percent, mean ± standard deviation "
        "over the splits; in brackets the published mean and the difference. Published values are over 20 "
        "splits."
    )
    systems = ("BMKR", "GFC", "PBRFF", "GBRFF1", "LGBM", "GBRFF2")
    full = Scope(SETS, systems, 20, (100,))
    sample = Scope(("wine", "wdbc"), systems, 1, (20,))
    paper, splitter = "ecml2020", SPLITTER
    subject = "Table 2: distance from the published mean accuracy"
    reasons = {("german", "GBRFF2"): GERMAN}

    def comparison(self, frame: Any, scope: Scope) -> PublishedComparison:
        """The rows beside the published values."""
        reference = published("ecml2020_table2")
        spread = reference[[f"{name}_std" for name in self.systems]].set_axis(self.systems, axis=1)
        return PublishedComparison(frame, scope.datasets, scope.systems, reference, spread)

    def remarks(self, comparison: PublishedComparison) -> str:
        return far_lines(comparison, self.reasons)


class EcmlFigure2(CurveTarget):
    """Figure 2: accuracy by the number of landmarks."""

    name = "ecml2020-figure2"
    title = "ECML-PKDD 2020, Figure 2: test accuracy by number of landmarks"
    about = (
        f"{PROTOCOL} 1 to 50 landmarks or rounds, K = 10, tuned for each number. One fit of 50 rounds holds all "
        "smaller ones, since all draws are made in order. The paper gives its values as a drawing only."
    )
    paper, splitter = "ecml2020", SPLITTER
    label, xlabel = "landmarks", "number of landmarks or rounds"
    full = Scope(SETS, ("PBRFF", "GBRFF1", "GBRFF2"), 20, (1, 2, 3, 4, 5, 7, 10, 15, 20, 25, 30, 40, 50))
    sample = Scope(("wine", "wdbc"), ("PBRFF", "GBRFF1", "GBRFF2"), 1, (1, 2, 3, 5, 10, 15, 20, 30, 50))


class EcmlFigure3(CurveTarget):
    """Figure 3: GBRFF1 by total number of features, for several K."""

    name = "ecml2020-figure3"
    title = "ECML-PKDD 2020, Figure 3: GBRFF1 by total number of random features"
    about = (
        f"{PROTOCOL} GBRFF1 with T rounds of K frequencies each, T x K in total, tuned for each. In brackets the "
        "published mean over the paper's 16 data sets and the difference, which is only as good as the data sets "
        "are the same."
    )
    paper, splitter = "ecml2020", SPLITTER
    label = "T x K"
    counts = {"K=20": 20, "K=10": 10, "K=5": 5, "K=1": 1}
    full = Scope(SETS, tuple(counts), 20, (20, 100, 200, 300, 500, 1000))
    sample = Scope(("wine", "wdbc"), tuple(counts), 1, (20, 100, 200))

    def path(self, scope: Scope, system: str, gamma: float) -> SystemPath:
        # The weight of a single frequency is 1, whatever beta is.
        fixed = {"learner__beta": 1.0} if self.counts[system] == 1 else {}
        largest = self.largest(scope, system)
        return ECML_2020["GBRFF1"].restricted(largest, fixed, learner__n_components=self.counts[system])

    def size(self, scope: Scope, system: str, x: float) -> float:
        return x / self.counts[system]

    def tables(self, frame: Any, scope: Scope) -> str:
        table = curve_table(self.curves(frame, scope), self.label, published("ecml2020_figure3"))
        return f"{averaging_line(frame)}\n\n{table}"

    def draw(self, frame: Any, scope: Scope) -> Figure:
        means = self.curves(frame, scope)
        figure = new_figure(6.8, 4.0)
        axes = figure.subplots()
        draw_bars(axes, means, published("ecml2020_figure3").reindex(index=means.index, columns=means.columns))
        axes.set_xlabel("total number of random features, T x K")
        axes.set_ylabel("mean test accuracy (%)")
        axes.set_title(f"GBRFF1, mean of {complete_sets(frame)['dataset'].nunique()} data sets", fontsize=10)
        axes.legend(frameon=False, ncols=len(means.columns) + 1, fontsize=8, loc="upper left")
        return figure


def draw_bars(axes: Any, means: pd.DataFrame, reference: pd.DataFrame) -> None:
    """Groups of bars, with a mark at each published value."""
    from rffboost_ext.inspection.plot_style import style_axes

    width = 0.8 / len(means.columns)
    for index, name in enumerate(means.columns):
        places = [group + (index - (len(means.columns) - 1) / 2) * width for group in range(len(means))]
        axes.bar(places, means[name], width=0.92 * width, color=style(index)["color"], label=str(name))
        mark = {"label": "published"} if index == len(means.columns) - 1 else {}
        axes.plot(places, reference[name], linestyle="", marker="_", color="black", ms=8, mew=1.6, **mark)
    axes.set_xticks(range(len(means)), [f"{x:g}" for x in means.index])
    axes.set_ylim(*bar_range(means, reference))
    style_axes(axes, "y")


def bar_range(means: pd.DataFrame, reference: pd.DataFrame) -> Sequence[float]:
    """The range of percent that bars show, with room for the legend."""
    both = pd.concat([means, reference])
    low, high = float(both.min(axis=None)), float(both.max(axis=None))
    return low - 0.15 * (high - low) - 0.5, high + 0.22 * (high - low) + 0.5


SMALLEST, FACTOR, STEPS = 150, 1.5, 26
SIZES = tuple(float(n) for n in accumulate(range(1, STEPS), lambda n, _: int(n * FACTOR), initial=SMALLEST))
DATA = "make_classification"
DEPTH = {"max_depth": 5, "num_leaves": 32}


class EcmlFigure4(Target):
    """Figure 4: seconds of a fit and a prediction."""

    name = "ecml2020-figure4"
    title = "ECML-PKDD 2020, Figure 4: time by number of rows"
    about = (
        "scikit-learn's make_classification with its 20 features and random state 1; n = 150 and 1.5 times as "
        "many with each step. Seconds of a fit of 100 rounds or landmarks and a prediction of the same rows, on "
        "one thread; gamma 1/d, beta 1, lambda 0, C 1, trees of depth 5. A system whose time exceeds the limit "
        "is stopped; the paper's limit is 1,000 s. The paper gives its values as a drawing only, from another "
        "machine and another language."
    )
    full = Scope((DATA,), EcmlTable2.systems, 1, SIZES)
    sample = Scope((DATA,), EcmlTable2.systems, 1, full.points[:12], 100, time_limit=1.0)
    serial = True
    downloads = False

    def order(self, scope: Scope, study: Study, records: Mapping[Key, Record]) -> list[Task]:
        """The next number of rows of each system that has not exceeded the limit."""
        return [
            Task(DATA, system, split, (n,))
            for split in range(1, study.n_splits + 1)
            for system in study.systems
            for n in self.next_size(scope, study, records, system, split)
        ]

    def next_size(
        self, scope: Scope, study: Study, records: Mapping[Key, Record], system: str, split: int
    ) -> tuple[float, ...]:
        """The first number of rows that has not been measured, if any is needed."""
        for n in study.points:
            record = records.get((DATA, system, split, n))
            if record is None or not study.is_current(record):
                return (n,)
            if record["score"] > scope.time_limit:
                return ()
        return ()

    def settings(self, scope: Scope, system: str) -> object:
        return scope.size, system

    def measure(self, scope: Scope, system: Any, parts: Any, task: Task) -> list[dict[str, Any]]:
        from sklearn.datasets import make_classification

        n = int(task.points[0])
        X, y = make_classification(n, random_state=1)
        # Warm up imports and compilation.
        model_of(task.system, 2).fit(X[:SMALLEST], y[:SMALLEST]).predict(X[:1])
        model = model_of(task.system, scope.size)
        start = perf_counter()
        model.fit(X, y).predict(X)
        seconds = perf_counter() - start
        return [values(seconds, seconds, (n, n, X.shape[1]))]

    def curves(self, frame: Any, scope: Scope) -> Any:
        """Seconds by n and system."""
        return curves(frame, scope.systems)

    def lines(self, frame: Any, scope: Scope) -> Any:
        means = frame.groupby(["system", "x"], sort=False)["score"].agg(["mean", "count"]).reset_index()
        return means.rename(columns={"x": "n", "mean": "seconds", "count": "repeats"})

    def tables(self, frame: Any, scope: Scope) -> str:
        return f"Seconds; limit {scope.time_limit:g} s.\n\n{curve_table(self.curves(frame, scope), 'n', digits=3)}"

    def draw(self, frame: Any, scope: Scope) -> Figure:
        title = f"{scope.size} rounds or landmarks; stopped beyond {scope.time_limit:g} s"
        ylabel = "seconds to fit and predict, one thread"
        figure = curve_figure(self.curves(frame, scope), "rows, of 20 features", ylabel, title, log=True)
        figure.axes[0].set_yscale("log")
        return figure


def model_of(system: str, size: int) -> Any:
    """A system at the fixed hyperparameters of this figure, on unscaled features."""
    return ECML_2020[system].make(size).set_params(**(DEPTH if system == "LGBM" else {}))
