"""All targets by name."""

from __future__ import annotations

from . import letarte2019 as letarte
from . import workshop2019 as workshop
from .ecml2020_figure1 import Figure1
from .ecml2020_figure4 import Figure4
from .ecml2020_figure5 import Figure5
from .ecml2020_tuned import Figure2, Figure3, Table2
from .letarte2019_figure2 import Figure2 as LetarteToy
from .target import Target

TARGETS: dict[str, Target] = {
    target.name: target
    for target in (
        Table2(),
        Figure1(),
        Figure2(),
        Figure3(),
        Figure4(),
        Figure5(),
        workshop.Table2(),
        workshop.Figure1(),
        workshop.Figure2(),
        letarte.Table1(),
        letarte.Figure1(),
        LetarteToy(),
        letarte.Figure3(),
    )
}
"""The targets of ``rffboost reproduce``."""
