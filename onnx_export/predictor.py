"""Prediction from a file, with ONNX Runtime."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from math import ceil
from typing import Any

import numpy as np
from onnx import ModelProto

from rffboost_ext.exporting import THREADS, Array, count_threads, require, squeeze

from .inputs import graph_inputs, input_types, require_gaps_of_fit, row_blocks
from .metadata import Metadata, read_metadata
from .model import RESERVED, SURVIVAL, load, name_of
from .runtimes import open_session, run_session, with_output

CHUNK_ELEMENTS = 2**18
"""Rows times cosines and trees of a chunk: a chunk stays in the cache of a core."""

OUTPUTS = {"classifier": ("label", "probabilities", "score"), "regressor": ("variable",)}
"""Outputs of every model of a kind."""


class OnnxPredictor:
    """A model file as a predictor with the methods of scikit-learn.

    Rows are split into chunks that fit into the cache and are distributed over threads: ONNX Runtime itself does
    not parallelize a cosine. All methods take `X` and `base_margin`, and raise errors, as :meth:`predict` does.

    Parameters
    ----------
    model : path-like, bytes or ModelProto
        A model written by this package.
    n_jobs : int or None, default=None
        Threads; None for all cores that the process may use, -2 for one fewer than there are.

    Attributes
    ----------
    metadata : Metadata
        The file's metadata.
    classes_ : ndarray
        Class labels, of the type that they had at the fit; only for a classifier.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray
        Names of the features; only if the file has them.

    Raises
    ------
    ValueError
        If the file is damaged or was written by another program.
    ImportError
        If onnxruntime is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor
    >>> from onnx_export import OnnxPredictor, to_onnx
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> model = RFFBoostRegressor(n_estimators=20, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> bool(np.allclose(OnnxPredictor(to_onnx(model)).predict(X), model.predict(X), atol=1e-5))
    True
    """

    def __init__(self, model: str | os.PathLike[str] | bytes | ModelProto, *, n_jobs: int | None = None) -> None:
        require("OnnxPredictor", "n_jobs", n_jobs, THREADS)
        proto = load(model)
        self._asked_jobs = n_jobs
        self._name = name_of(model)
        self.metadata: Metadata = read_metadata(proto, self._name)
        self.n_jobs = count_threads(n_jobs)
        self.n_features_in_ = self.metadata.n_features
        if self.metadata.classes is not None:
            self.classes_ = self.metadata.classes
        if self.metadata.feature_names:
            self.feature_names_in_ = np.array(self.metadata.feature_names, dtype=object)
        self._inputs = input_types(proto)
        self._outputs = [entry.name for entry in proto.graph.output]
        self._content = proto.SerializeToString()
        # The output of the steps is checked for missing values.
        self._watched = [self.metadata.steps] if self.metadata.steps and self.metadata.gaps is not None else []
        whole = with_output(proto, self.metadata.steps).SerializeToString() if self._watched else self._content
        self._session = open_session(whole, self._name)

    def __getstate__(self) -> dict[str, Any]:
        """The model as bytes, and the requested threads: sessions cannot be pickled."""
        return {"model": self._content, "n_jobs": self._asked_jobs}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def predict(self, X: Any, base_margin: Any = None) -> Array:
        """Class labels, or means, (n,) or (n, C).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, d), or sequence of str
            Features, converted to the type of the file, or the texts that a pipeline takes. Sparse matrices become
            arrays block by block.
        base_margin : array-like of shape (n,) or (n, C), optional
            The offset of each row; required by a model that was fitted with one, else None.

        Returns
        -------
        ndarray

        Raises
        ------
        ValueError, TypeError
            If X has other columns than in fit, is not numeric, has infinite values, or has missing values in a
            column that had none in fit, also after the steps before the ensemble.
        """
        if self.metadata.classes is None:
            return squeeze(self._run("variable", X, base_margin))
        return self._run("label", X, base_margin).astype(self.classes_.dtype)

    def predict_proba(self, X: Any, base_margin: Any = None) -> Array:
        """Class probabilities, (n, K), in the order of ``classes_``.

        Returns
        -------
        ndarray of shape (n, K)

        Raises
        ------
        AttributeError
            If the file is of a regressor.
        """
        return self._run("probabilities", X, base_margin)

    def decision_function(self, X: Any, base_margin: Any = None) -> Array:
        """Raw scores.

        Returns
        -------
        ndarray of shape (n,) where there is one output, else (n, C)
        """
        is_response = self.metadata.classes is None and "score" not in self._outputs
        return squeeze(self._run("variable" if is_response else "score", X, base_margin))

    def predict_interval(self, X: Any, base_margin: Any = None) -> Array:
        """Lower and upper ends of intervals.

        Returns
        -------
        ndarray of shape (n, 2)

        Raises
        ------
        AttributeError
            If the file is not of a ConformalRegressor.
        """
        return self._run("interval", X, base_margin)

    def predict_survival_function(self, X: Any, base_margin: Any = None) -> Array:
        """The probabilities that the event comes later than the times ``metadata.times`` of the file, (n, T).

        Returns
        -------
        ndarray of shape (n, T)

        Raises
        ------
        AttributeError
            If the file was exported without times.
        """
        return self._run(SURVIVAL, X, base_margin)

    @property
    def response_names(self) -> list[str]:
        """The outputs of single columns of the response, such as parameters of a distribution."""
        return [name for name in self._outputs if name not in (*RESERVED, SURVIVAL, self.metadata.steps)]

    def output(self, name: str, X: Any, base_margin: Any = None) -> Array:
        """An output of the file by its name.

        Parameters
        ----------
        name : str
            Such as one of ``response_names``.
        X, base_margin
            As in :meth:`predict`.

        Returns
        -------
        ndarray of shape (n,) where the output has one column, else (n, W)

        Raises
        ------
        ValueError
            If the file has no such output.
        """
        if name not in self._outputs:
            raise ValueError(f"name must be one of the outputs {self._outputs}, got {name!r}")
        values = self._run(name, X, base_margin)
        return values if values.ndim == 1 else squeeze(values)

    def _run(self, output: str, X: Any, base_margin: Any) -> Array:
        if output not in self._outputs:
            kind = "regressor" if self.metadata.classes is None else "classifier"
            if output in OUTPUTS[kind]:
                raise ValueError(f"{self._name} has no output {output!r}, but {self._outputs}")
            raise AttributeError(f"the model is of a {kind}: it has {self._outputs}, no {output!r}")
        blocks = [self._run_block(output, *block) for block in row_blocks(X, base_margin, self.metadata)]
        return blocks[0] if len(blocks) == 1 else np.concatenate(blocks)

    def _run_block(self, output: str, X: Any, base_margin: Any) -> Array:
        """An output for a block of rows, in chunks."""
        feed = graph_inputs(X, self._inputs, self.metadata, base_margin)
        n = len(next(iter(feed.values())))
        size = self._rows_per_chunk(n)
        if n <= size:
            return self._run_rows(output, feed)

        def part(start: int) -> Array:
            return self._run_rows(output, {name: values[start : start + size] for name, values in feed.items()})

        starts = range(0, n, size)
        if self.n_jobs == 1:
            return np.concatenate([part(start) for start in starts])
        with ThreadPoolExecutor(self.n_jobs) as pool:
            return np.concatenate(list(pool.map(part, starts)))

    def _run_rows(self, output: str, feed: dict[str, Array]) -> Array:
        """An output for some rows, after a check of the output of the steps."""
        values, *steps = run_session(self._session, [output, *self._watched], feed)
        for features in steps:
            has_gap = np.isnan(features).any(axis=0)
            require_gaps_of_fit(has_gap, self.metadata, " after the steps before the ensemble")
        return values

    def _rows_per_chunk(self, n: int) -> int:
        """Rows per chunk, such that the threads get equal shares of the n rows."""
        most = max(16, CHUNK_ELEMENTS // max(1, self.metadata.n_cosines + self.metadata.n_trees))
        if n <= most:
            return most
        chunks = self.n_jobs * ceil(n / most / self.n_jobs)
        return max(1, ceil(n / chunks))
