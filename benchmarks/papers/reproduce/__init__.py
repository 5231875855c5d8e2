"""The tables and figures of the three papers, measured again beside their published values.

``python -m benchmarks.papers`` runs them; :data:`TARGETS` has them by name.
"""

from .ecml2020 import EcmlFigure2, EcmlFigure3, EcmlFigure4, EcmlTable2
from .ecml2020_figure1 import EcmlFigure1
from .ecml2020_figure5 import EcmlFigure5
from .letarte2019 import LetarteFigure1, LetarteFigure2, LetarteFigure3, LetarteTable1
from .target import Target
from .workshop2019 import WorkshopFigure1, WorkshopFigure2, WorkshopTable2

CLASSES: list[type[Target]] = [
    *(EcmlTable2, EcmlFigure1, EcmlFigure2, EcmlFigure3, EcmlFigure4, EcmlFigure5),
    *(WorkshopTable2, WorkshopFigure1, WorkshopFigure2),
    *(LetarteTable1, LetarteFigure1, LetarteFigure2, LetarteFigure3),
]
TARGETS: dict[str, Target] = {kind.name: kind() for kind in CLASSES}
"""The tables and figures by name."""
