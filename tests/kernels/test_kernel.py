"""Each kernel has one signature in each precision, whatever arrays users pass."""

from __future__ import annotations

import inspect
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_wine, make_classification

import rffboost_ext
from rffboost_ext import LEARNERS, RFFBoostClassifier, RFFBoostRegressor, cli
from rffboost_ext.kernels import warmup
from rffboost_ext.kernels.compile_cache import KernelCache
from rffboost_ext.kernels.kernel import KERNELS, CompiledKernel, kernel, parameter_type


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


FORMS = {
    "read-only": read_only,
    "Fortran order": np.asfortranarray,
    "float32": lambda X: X.astype(np.float32),
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
}


def fitted(learner, form):
    X, y = make_classification(60, 4, random_state=0)
    model = RFFBoostRegressor(learner=learner, n_estimators=2, random_state=0)
    return model.fit(form(X), y + 0.0), form(X)


@pytest.mark.parametrize("learner", LEARNERS.names())
def test_ordinary_fits_need_no_conversion(learner, monkeypatch):
    """All arrays of a fit and of a prediction have the declared types."""

    def refuse(self, args, precision):
        raise AssertionError(f"{self.name}: {[getattr(one, 'flags', one) for one in args]}")

    monkeypatch.setattr(CompiledKernel, "_converted", refuse)
    expected = None
    for form in FORMS.values():
        model, X = fitted(learner, form)
        outputs = model.predict(X)
        expected = outputs if expected is None else expected
        np.testing.assert_allclose(outputs, expected, rtol=2e-3, atol=2e-3)
    assert all(len(one.signatures) == 1 for k in KERNELS for one in k._compiled.values())


def test_other_arrays_are_converted():
    @kernel("T[2] f8[1]*")
    def sums(x, out):
        for i in range(len(x)):
            out[i] = 0.0
            for j in range(x.shape[1]):
                out[i] += x[i, j]

    x = np.arange(6).reshape(2, 3)
    for other in (x, np.asfortranarray(x, dtype=np.float32), x[:, ::-1] + 0.0, read_only(x.astype(np.float64))):
        out = np.empty(2)
        sums(other, out)
        assert out.tolist() == [3.0, 12.0]
    with pytest.raises(TypeError):
        sums(x, np.empty(2, dtype=np.float32))


def abs_of(x):
    return abs(x)


def test_threads_that_need_a_kernel_at_once_compile_it_once(monkeypatch):
    one, both, names = CompiledKernel(abs_of, ["f8"], False), Barrier(2, timeout=30), []
    monkeypatch.setattr(
        "rffboost_ext.kernels.kernel.KernelCache", lambda name: names.append(name) or KernelCache(name)
    )

    def compile_at_once(precision):
        both.wait()
        return one.compile(precision)

    with ThreadPoolExecutor(2) as pool:
        assert len(set(pool.map(compile_at_once, "dd"))) == 1
    assert len(names) == 1


def test_signatures_have_a_type_for_each_parameter():
    for one in warmup.package_kernels().values():
        parameters = inspect.signature(one.function).parameters
        assert len(one.signature) == len(parameters), one.name
        for precision in one.precisions:
            assert all(parameter_type(declared, precision) is not None for declared in one.signature)


def test_no_default_fit_loads_a_kernel_after_a_warmup(monkeypatch):
    for one in warmup.package_kernels().values():
        monkeypatch.setattr(one, "_compiled", {})
    rffboost_ext.warmup()
    loaded, plain = [], CompiledKernel.compile
    monkeypatch.setattr(
        CompiledKernel, "compile", lambda self, *args: loaded.append(self.name) or plain(self, *args)
    )
    for make, estimator in ((load_wine, RFFBoostClassifier), (load_diabetes, RFFBoostRegressor)):
        X, y = make(return_X_y=True)
        estimator(n_estimators=3, random_state=0).fit(X, y).predict(X)
        assert loaded == []


@pytest.mark.slow
def test_warmup_compiles_all_that_fits_use(tmp_path, monkeypatch, capfd):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(sys.modules["numba"].config, "CACHE_DIR", str(tmp_path))
    assert cli.main(["warmup", "--jobs", "2"]) == 0
    out, err = capfd.readouterr()
    number = len(warmup.kernel_variants())
    assert f"{number}/{number}" in err
    assert str(tmp_path) in out
    assert len(list(tmp_path.rglob("*.kernel"))) == number


def test_warmup_says_what_is_wrong(monkeypatch, capfd, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(sys.modules["numba"].config, "CACHE_DIR", str(tmp_path / "file"))
    assert cli.main(["warmup"]) == 2
    assert "set NUMBA_CACHE_DIR to a writable folder" in capfd.readouterr().err
    assert cli.main(["warmup", "--jobs", "0"]) == 2
    assert "--jobs" in capfd.readouterr().err
