"""All targets by name."""

from __future__ import annotations

from . import letarte, workshop
from .ecml_loss import Figure1
from .ecml_time import Figure4
from .ecml_toys import Figure5
from .ecml_tuned import Figure2, Figure3, Table2
from .letarte_toy import Figure2 as LetarteToy
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
