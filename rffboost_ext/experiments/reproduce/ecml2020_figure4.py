"""ECML-PKDD 2020, Figure 4: time by the number of rows, each system until a limit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, Any

from ..records import Key, Record
from ..study import Study, Task
from ..summary import curves
from .ecml2020_tuned import EcmlTable2
from .figures import curve_figure
from .markdown import curve_table
from .papers import ECML_2020
from .target import Scope, Target, values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

    def order(self, scope: Scope, study: Study, known: Mapping[Key, Record]) -> list[Task]:
        """The next number of rows of each system that has not exceeded the limit."""
        return [
            Task(DATA, system, split, (n,))
            for split in range(1, study.n_splits + 1)
            for system in study.systems
            for n in self.next_size(scope, study, known, system, split)
        ]

    def next_size(
        self, scope: Scope, study: Study, known: Mapping[Key, Record], system: str, split: int
    ) -> tuple[float, ...]:
        """The first number of rows that has not been measured, if any is needed."""
        for n in study.points:
            record = known.get((DATA, system, split, n))
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
