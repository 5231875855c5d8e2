"""What compilation costs: seconds of each kernel, and of first calls in fresh processes.

    python -m benchmarks.compilation [--write benchmarks/compilation.md]

Every measurement runs in a process of its own, on one core, with an empty cache for the first process and the
filled cache for the second. "Warm" is the same call once more in that process. Seconds are CPU time: on an idle
core as much time passes. Takes three minutes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from .command import options
from .machine import environment

ROOT = Path(__file__).resolve().parents[1]
PREPARE = """
import json, time
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine, make_classification
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, load_model, presets

def seconds(call):
    start = time.process_time()
    call()
    return time.process_time() - start

"""
MEASURE = """
run()
warm = seconds(run)
print(json.dumps([first, warm]))
"""
CALLS = {
    "default classifier, 569 x 30": "RFFBoostClassifier(random_state=0).fit(*load_breast_cancer(return_X_y=True))",
    "default classifier, 4,000 x 20": (
        "RFFBoostClassifier(random_state=0).fit(*make_classification(4_000, random_state=1))"
    ),
    "default regressor, 442 x 10": "RFFBoostRegressor(random_state=0).fit(*load_diabetes(return_X_y=True))",
    "default classifier of 3 classes, 178 x 13": (
        "RFFBoostClassifier(random_state=0).fit(*load_wine(return_X_y=True))"
    ),
    '`learner="symmetric_tree"`, 569 x 30': (
        "RFFBoostClassifier(learner='symmetric_tree', random_state=0).fit(*load_breast_cancer(return_X_y=True))"
    ),
    "`gbrff1`, 569 x 30": "presets.gbrff1(random_state=0).fit(*load_breast_cancer(return_X_y=True))",
    "`gbrff2`, 569 x 30": "presets.gbrff2(random_state=0).fit(*load_breast_cancer(return_X_y=True))",
    "first prediction of a loaded default model": "load_model(MODEL).predict_proba(load_breast_cancer().data)",
}
KERNELS = """
import json, time
from rffboost_ext.kernels import warmup

found = []
for name, precision in warmup.kernel_variants():
    start = time.process_time()
    warmup.package_kernels()[name].compile(precision)
    found.append([name, precision, time.process_time() - start])
print(json.dumps(found))
"""


PAGE = """# Compilation

`python -m benchmarks.compilation --write benchmarks/compilation.md` measures these tables, in CPU seconds on one
core.

{machine}

## First calls

| call | empty cache | second process | warm |
| --- | --- | --- | --- |
{calls}

## Kernels

Each kernel has one signature in each precision. Functions that several kernels call are compiled with the first of
them.

| kernel | float32 | float64 |
| --- | --- | --- |
{kernels}
"""


def output_of(script: str, folder: Path) -> list[list[object]]:
    """What a script prints, as JSON, from a process on one core with its cache in a folder."""
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    pin = "import os; getattr(os, 'sched_setaffinity', lambda *_: None)(0, [min(os.sched_getaffinity(0))])\n"
    done = subprocess.run([sys.executable, "-c", pin + script], env=env, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def first_calls(folder: Path) -> list[str]:
    """The rows of the table of first calls."""
    model = folder / "model.rffb"
    fit = CALLS["default classifier, 569 x 30"]
    output_of(PREPARE + f"{fit}.save_model({str(model)!r})\nprint([])", folder / "model")
    rows = []
    for number, (name, call) in enumerate(CALLS.items()):
        script = PREPARE + f"MODEL = {str(model)!r}\nrun = lambda: {call}\nfirst = seconds(run)\n" + MEASURE
        (cold, _), (second, warm) = (output_of(script, folder / str(number)) for _ in range(2))
        rows.append(f"| {name} | {cold:.1f} | {second:.2f} | {warm:.2f} |")
        print(rows[-1], file=sys.stderr, flush=True)
    return rows


def kernels(folder: Path) -> list[str]:
    """The rows of the table of kernels, from the slowest on."""
    seconds_of: dict[str, dict[str, float]] = {}
    for name, precision, seconds in output_of(KERNELS, folder / "kernels"):
        seconds_of.setdefault(str(name), {})[str(precision)] = float(str(seconds))
    ordered = sorted(seconds_of.items(), key=lambda item: -max(item[1].values()))
    return [
        f"| `{name}` | " + " | ".join(f"{times[p]:.2f}" if p in times else "" for p in "fd") + " |"
        for name, times in ordered
    ]


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print or write both tables."""
    parser = options(__doc__)
    parser.add_argument("--write", type=Path, help="write the tables to this file")
    target = parser.parse_args(arguments).write
    with tempfile.TemporaryDirectory() as name:
        calls, compiled = first_calls(Path(name)), kernels(Path(name))
    text = PAGE.format(machine=environment(), calls="\n".join(calls), kernels="\n".join(compiled))
    if target is None:
        print(text)
    else:
        target.write_text(text)


if __name__ == "__main__":
    main()
