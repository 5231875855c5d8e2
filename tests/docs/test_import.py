"""``import rffboost_ext`` is light, what is heavy or optional is imported where it is used, and Ctrl-C ends it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from graphlib import TopologicalSorter
from inspect import getsource

import grimp
import pytest

from rffboost_ext import cli

HEAVY = [
    "numba",
    "xgboost",
    "pandas",
    "matplotlib",
    "onnx",
    "skl2onnx",
    "onnxruntime",
    "lightgbm",
    "catboost",
    "rich",
    "dask",
    "rffboost_ext.interop.models",
]

# scikit-learn itself loads parts of scipy, narwhals and, where it finds it, pandas. So the second list holds what
# modules of the package asked for themselves, beside modules that scikit-learn loads.
SCRIPT = """
import builtins, json, sys
import sklearn.base, sklearn.utils.multiclass, sklearn.utils.validation
before, asked, plain = set(sys.modules), set(), builtins.__import__

def noted(name, globals=None, locals=None, fromlist=(), level=0):
    if globals and str(globals.get("__name__", "")).startswith("rffboost_ext") and level == 0:
        asked.add(name)
    return plain(name, globals, locals, fromlist, level)

builtins.__import__ = noted
import rffboost_ext
print(json.dumps([sorted(set(sys.modules) - before), sorted(asked - before)]))
"""


@pytest.fixture(scope="module")
def imported():
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@pytest.mark.parametrize("package", HEAVY)
def test_import_does_not_load(imported, package):
    loaded, _ = imported
    assert not [name for name in loaded if f"{name}.".startswith(f"{package}.")]


def test_import_asks_for_little(imported):
    _, asked = imported
    third_party = {name for name in asked if name.split(".")[0] not in sys.stdlib_module_names}
    assert {name.split(".")[0] for name in third_party} <= {"narwhals", "numpy", "sklearn"}


def test_the_public_names_exist():
    import rffboost_ext

    assert sorted(rffboost_ext.__all__) == sorted(set(rffboost_ext.__all__))
    for name in rffboost_ext.__all__:
        assert getattr(rffboost_ext, name) is not None


def test_no_file_imports_itself_by_way_of_others():
    # The contracts of import-linter compare siblings; this also covers a package and the modules in it.
    graph = grimp.build_graph("rffboost_ext", "onnx_export", cache_dir=None)
    imports = {name: graph.find_modules_directly_imported_by(name) for name in graph.modules}
    # Raises a CycleError if there is a cycle.
    assert set(TopologicalSorter(imports).static_order()) == set(graph.modules)


class Interrupt:
    """A finder of modules that is interrupted at the import of one."""

    def __init__(self, name):
        self.name = name

    def find_spec(self, name, path=None, target=None):
        if name == self.name:
            signal.raise_signal(signal.SIGINT)


def test_an_interrupt_during_imports_is_one_line(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "typer", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Interrupt("typer"), *sys.meta_path])
    # A job in the background ignores SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert cli.main(["--version"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == "rffboost: error: interrupted\n"


SCRIPT_OF_COMMAND = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
{getsource(Interrupt)}
sys.meta_path.insert(0, Interrupt("numpy"))
from rffboost_ext.cli import main
sys.exit(main())
"""


def test_an_interrupt_while_the_package_is_imported_ends_by_its_signal():
    # For a shell, that is exit status 130.
    line = [sys.executable, "-c", SCRIPT_OF_COMMAND]
    assert subprocess.run(line, capture_output=True, check=False).returncode == -signal.SIGINT
