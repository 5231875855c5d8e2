"""Files load in an old ONNX Runtime and in JavaScript."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import venv
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from onnx_export import save_onnx

from .oracle import DTYPES, classifier, ensemble_of, posed, random_cosines, random_symmetric_trees, random_trees

ROOT = Path(__file__).parents[2]
X = np.random.default_rng(0).standard_normal((25, 4)).astype(np.float32)
TERMS = {
    "cosines": (random_cosines(0, 50, 4, center=np.full(4, 3.0)),),
    "trees": (random_trees(1, 20, 4),),
    "both": (random_cosines(0, 50, 4), random_trees(1, 20, 4)),
    "symmetric trees": (random_symmetric_trees(2, 40, 4), random_symmetric_trees(3, 40, 4, linear=True)),
}

OLD_RUNTIME = """
import json, sys
import numpy as np
import onnxruntime

folder = sys.argv[1]
X = np.load(folder + "/X.npy")
scores = {"version": onnxruntime.__version__}
for name in json.load(open(folder + "/names.json")):
    session = onnxruntime.InferenceSession(folder + "/" + name + ".onnx", providers=["CPUExecutionProvider"])
    outputs = {entry.name: value for entry, value in zip(session.get_outputs(), session.run(None, {
        "X": X.astype(np.float64 if name.endswith("float64") else np.float32)}))}
    scores[name] = {key: np.asarray(value).tolist() for key, value in outputs.items()}
json.dump(scores, sys.stdout)
"""


def run(command: list[str], folder: Path) -> str:
    """Standard output of a command that must succeed."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def models() -> dict[str, Any]:
    """Estimators of each kind, by the kind and the type of their file."""
    several = [random_cosines(3, 20, 4, n_outputs=3), random_trees(4, 10, 4, n_outputs=3)]
    kinds = {kind: classifier(ensemble_of(*terms, baseline=0.3), 4) for kind, terms in TERMS.items()}
    kinds["several"] = posed(ensemble_of(*several, baseline=[0.0, 1.0, 2.0]), 4)
    return {f"{kind}-{dtype}": estimator for kind, estimator in kinds.items() for dtype in DTYPES}


@pytest.mark.slow
def test_an_old_onnxruntime_in_an_environment_of_its_own(tmp_path: Path) -> None:
    venv.create(tmp_path / "old", with_pip=True)
    python = str(tmp_path / "old" / "bin" / "python")
    packages = ["onnxruntime==1.17.*", "numpy<2"]
    installed = subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=False)
    if installed.returncode:
        pytest.skip("onnxruntime 1.17 cannot be installed here")
    for name, estimator in models().items():
        save_onnx(estimator, tmp_path / f"{name}.onnx", dtype=name.partition("-")[2])
    np.save(tmp_path / "X.npy", X)
    (tmp_path / "names.json").write_text(json.dumps(list(models())))
    found = json.loads(run([python, "-c", OLD_RUNTIME, str(tmp_path)], tmp_path))
    assert found.pop("version").startswith("1.17")
    for name, estimator in models().items():
        raw = estimator.raw_scores(X.astype(np.float64))
        tolerance = 1e-12 if name.endswith("float64") else 2e-5
        scores = np.array(found[name].get("score", found[name].get("variable")))
        assert np.abs(scores - raw).max() < tolerance * np.abs(raw).max()
        if "label" in found[name]:
            assert np.array_equal(found[name]["label"], estimator.predict(X))


@pytest.mark.slow
def test_a_javascript_runtime(tmp_path: Path) -> None:
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("Node is not installed")
    installed = subprocess.run(
        ["npm", "install", "--ignore-scripts", "onnxruntime-web"], check=False, cwd=tmp_path
    )
    if installed.returncode:
        pytest.skip("onnxruntime-web cannot be installed here")
    shutil.copy(ROOT / "examples" / "03_onnx_web.mjs", tmp_path)
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", fmt="%.9g")
    for kind, terms in TERMS.items():
        estimator = posed(ensemble_of(*terms, baseline=0.3), 4, classifier(ensemble_of(), 4).loss_, ["no", "jä"])
        save_onnx(estimator, tmp_path / f"{kind}.onnx")
        printed = run(["node", "03_onnx_web.mjs", f"{kind}.onnx", "rows.csv"], tmp_path)
        lines = [line.split(",") for line in printed.strip().splitlines()]
        assert [line[0] for line in lines] == list(estimator.predict(X))
        found = np.array([[float(p) for p in line[1:]] for line in lines])
        assert np.abs(found - estimator.predict_proba(X)).max() < 1e-5
