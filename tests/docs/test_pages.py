"""The code of the README, of the pages under docs/ and of the examples runs, and the commands are those of CI."""

from __future__ import annotations

import doctest
import re
from importlib import import_module
from pathlib import Path

import pytest

from benchmarks.data import FURTHER, SOURCES

from .scripts import run_script

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PAGES = {path.relative_to(ROOT).as_posix(): path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
TEXTS = {
    name: (ROOT / name).read_text() for name in ("README.md", "CONTRIBUTING.md", "examples/README.md")
} | PAGES


MARK = "-- end of block --"
# Rooms of scikit-learn whose names the pages use.
SKLEARN_ROOMS = "calibration", "model_selection", "multioutput", "preprocessing"


def blocks(language, text=README):
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def run_blocks(text, folder):
    """What each block prints, of all Python blocks as one script: they register parts by name."""
    script = f"\nprint({MARK!r})\n".join(blocks("python", text))
    return run_script(script, folder).replace(MARK + "\n", MARK).split(MARK)


def shown_outputs(text):
    """What the page shows below each Python block: its next block, if that is of kind `text`, or nothing."""
    fences = re.findall(r"^```(\w+)\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [
        following[1] if following[0] == "text" else ""
        for (language, _), following in zip(fences, [*fences[1:], ("", "")], strict=True)
        if language == "python"
    ]


DECIMAL = re.compile(r"\d+\.\d*(?:e[-+]\d+)?|\d+e-\d+")


def is_shown(printed, shown):
    """Whether a page shows what is printed; rounding, which depends on the processor, may move the last digit."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    pairs = list(zip(DECIMAL.findall(shown), DECIMAL.findall(printed), strict=False))
    same_text = doctest.OutputChecker().check_output(DECIMAL.sub("0.", shown), DECIMAL.sub("0.", printed), flags)
    return same_text and all(is_close(*pair) for pair in pairs)


def is_close(shown, printed):
    """Whether decimals agree up to a unit of the last digit, and small ones, of errors, up to a factor of ten."""
    if 0.0 < float(shown) < 1e-3:
        return 0.1 <= float(printed) / float(shown) <= 10.0
    unit = 10.0 ** -len(shown.partition(".")[2])
    return abs(float(printed) - float(shown)) <= 1.01 * unit


def test_the_readme_is_short_and_runs(tmp_path):
    assert len(README.splitlines()) <= 150
    printed = run_blocks(README, tmp_path)
    assert (tmp_path / "model.onnx").exists()
    assert min(float(line) for line in printed[0].splitlines()[:2]) > 0.93


# The migration page has a test of its own: each of its scripts begins with the first block.
@pytest.mark.parametrize(
    "name",
    [
        # It imports SHAP, as the tests in tests/clients do.
        pytest.param(name, marks=[pytest.mark.slow] if name == "docs/clients.md" else [])
        for name in PAGES
        if blocks("python", PAGES[name]) and "migration" not in name
    ],
)
def test_pages_print_what_they_show(name, tmp_path):
    printed, shown = run_blocks(PAGES[name], tmp_path), shown_outputs(PAGES[name])
    for output, expected in zip(printed, shown, strict=True):
        assert is_shown(output, expected), f"printed:\n{output}\nnot:\n{expected}"


@pytest.mark.parametrize(
    ("printed", "agrees"),
    [
        ("0.96 3 9.4e-07", True),
        ("0.97 3 1.1e-06", False),
        ("0.95 4 1.1e-06", False),
        ("0.95 3 2.1e-05", False),
    ],
)
def test_decimals_may_differ_by_one_unit_and_errors_by_a_factor_of_ten(printed, agrees):
    assert is_shown(printed, "0.95  3\n1.1e-06") == agrees


@pytest.mark.parametrize("name", PAGES)
def test_code_fits_the_width_of_a_page(name):
    lines = "\n".join(block for kind in ("python", "bash", "html") for block in blocks(kind, PAGES[name]))
    assert [line for line in lines.splitlines() if len(line) > 104] == []


def test_commands_are_those_of_ci():
    script = (ROOT / ".ci" / "run").read_text()
    (command,) = (line for line in "".join(blocks("bash")).splitlines() if "pytest" in line)
    install, test = command.split(" && ")
    assert install.replace("pip install -e", "pip install --quiet --editable") in script
    assert script.strip().splitlines()[-1] == test


def test_every_benchmark_and_each_of_its_files_of_data_is_listed():
    text = (ROOT / "benchmarks" / "README.md").read_text()
    scripts = {
        path.name for path in (ROOT / "benchmarks").glob("*.py") if '__name__ == "__main__"' in path.read_text()
    }
    assert set(re.findall(r"^\| `(\w+\.py)", text, re.MULTILINE)) == scripts
    stems = {source.stem for source in SOURCES.values() if source.missing(None)}
    # Those of R packages are in the script that writes them.
    assert stems - set(FURTHER) <= set(re.findall(r"`(\w+)`", text))
    assert "`Rscript benchmarks/further.R FOLDER`" in text


def test_every_page_is_listed():
    # The build complains about a page that is in no table of contents; these are the lists that readers see.
    listed = set(re.findall(r"\]\((\w+\.(?:md|rst))\)", PAGES["docs/index.md"] + PAGES["docs/user_guide.md"]))
    assert {f"docs/{name}" for name in listed} == set(PAGES) - {"docs/index.md"} | {"docs/api.rst"}


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_a_page_names_exist(name):
    for path in re.findall(
        r"`((?:examples|benchmarks|docs|rffboost_ext|onnx_export|tests)/[\w./]+)`", TEXTS[name]
    ):
        assert (ROOT / path).exists(), path
    for path in re.findall(r"\]\(([\w./]+)\)", TEXTS[name]):
        assert ((ROOT / name).parent / path).exists(), path


@pytest.fixture(scope="module")
def code_names():
    folders = ("rffboost_ext", "onnx_export", "benchmarks", "examples", "tests/clients")
    code = "\n".join(path.read_text() for folder in folders for path in (ROOT / folder).rglob("*.py"))
    ours = {part for word in set(re.findall(r"\w+", code)) for part in (word, *word.split("__"))}
    rooms = (import_module(f"sklearn.{room}") for room in SKLEARN_ROOMS)
    return ours | {name for room in rooms for name in dir(room)}


@pytest.mark.parametrize("name", [name for name in TEXTS if "migration" not in name])
def test_names_in_the_text_are_in_the_code(name, code_names):
    quoted = " ".join(re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", TEXTS[name], flags=re.DOTALL)))
    words = re.findall(r"(?<![\w/])(?:[a-z]+_\w+|[A-Z][a-z]+[A-Z]\w+)", quoted.replace("__", " "))
    assert not [word for word in words if word not in code_names]


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# The slow tests in tests/clients run the others.
OTHERS = re.compile("^ *(?:import|from) (?:autogluon|duckdb|frameworks|ray)", re.MULTILINE)
QUICK = [path for path in EXAMPLES if not OTHERS.search(path.read_text())]


@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.name)
def test_example(path, tmp_path):
    # Output files, if any, land in a folder of their own.
    assert run_script(path.read_text(), tmp_path).strip(), "an example shows something"


def test_examples_are_numbered_and_short():
    assert len(EXAMPLES) >= 2
    for number, path in enumerate(EXAMPLES, start=1):
        assert path.name.startswith(f"{number:02}_")
        assert path.read_text().startswith('"""'), "an example begins by saying what it shows"
        assert len(path.read_text().splitlines()) <= 100
