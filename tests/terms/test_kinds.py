"""A kind of term is one file: no other room of the package asks what kind a term is."""

from __future__ import annotations

import ast
from pathlib import Path

import onnx_export
import rffboost_ext
from rffboost_ext import terms

ROOT = Path(rffboost_ext.__file__).parent
KINDS = {kind.__name__ for kind in terms.KINDS}
OTHERS = sorted(path for path in ROOT.rglob("*.py") if path.parent != ROOT / "terms")


def names_in(tree: ast.AST) -> set[str]:
    """All names and attributes in an expression."""
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {
        node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
    }


def questions(source: str) -> list[int]:
    """Lines that ask for a kind of term, by isinstance, issubclass or the class of a match statement."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        asks = isinstance(node, ast.Call) and ast.unparse(node.func) in {"isinstance", "issubclass"}
        if (asks and names_in(node.args[1]) & KINDS) or (
            isinstance(node, ast.MatchClass) and names_in(node) & KINDS
        ):
            lines.append(node.lineno)
    return lines


def test_questions_of_the_kind_are_listed() -> None:
    assert {"Cosines", "Trees", "SymmetricTrees", "LinearTrees", "Mapped"} <= KINDS
    assert questions("x = isinstance(term, Cosines | terms.Trees)") == [1]
    assert not questions("x = isinstance(term, Term)")


def test_no_other_room_asks_for_a_kind_of_term() -> None:
    # Imputed cosines are relative to their center.
    own = Path(onnx_export.__file__).with_name("mapped.py")
    texts = {path: path.read_text() for path in [*OTHERS, *own.parent.glob("*.py")] if path != own}
    # A module that names no kind asks for none.
    named = {path: text for path, text in texts.items() if any(kind in text for kind in KINDS)}
    assert not {path: lines for path, text in named.items() if (lines := questions(text))}
    assert sum("SymmetricTrees" in text for path, text in texts.items() if path.is_relative_to(ROOT)) <= 6
