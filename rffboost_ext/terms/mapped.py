"""Terms of mapped features: imputed, encoded and standardised ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast, final

import numpy as np

from ..core import Term
from ..utils.pickling import PickledByFields
from ..utils.sparse import Rows, SparseRows
from ..utils.typing import Array
from .batch_evaluation import map_groups, outputs_of_each
from .category_sets import Recoding
from .clipping import ClipAndLog
from .expansion import ImputeAndEncode
from .stored_fields import require_field, require_instance


@dataclass(frozen=True, eq=False)
class FeatureMap(PickledByFields):
    """The map from the columns of a table to the features that a learner sees, each part optional.

    Parameters
    ----------
    expansion : ImputeAndEncode, optional
        Imputation and one-hot encoding, from (n, d) to (n, e).
    clipping : ClipAndLog, optional
        Range and log transforms of the e columns. Cosines apply them; other terms act on features without a
        range, and do not support log transforms.
    center, scale : ndarray of shape (e,), optional
        Mean and standard deviation of each column after the log transforms, by which it is standardised.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.terms import ClipAndLog, FeatureMap
    >>> FeatureMap(clipping=ClipAndLog(np.array([0.0]), np.array([1.0]))).clipping.high
    array([1.])
    """

    expansion: ImputeAndEncode | None = None
    clipping: ClipAndLog | None = None
    center: Array | None = None
    scale: Array | None = None

    def __call__(self, X: Rows) -> Array:
        """The features of X (n, d), (n, e), without ranges and log transforms."""
        X = np.asarray(X) if self.expansion is None else self.expansion(X)
        return X if self.center is None or self.scale is None else (X - self.center) / self.scale

    @cached_property
    def key(self) -> Hashable:
        """Equal for maps that are the same function."""
        parts = self.center, self.scale
        columns = tuple(None if part is None else part.tobytes() for part in parts)
        return self.expansion and self.expansion.key, self.clipping and self.clipping.key, columns

    def around(self, term: Term) -> Term:
        """The function ``x -> term(self(x))``; a TypeError if features are log-transformed."""
        if self.clipping is not None and self.clipping.log_scale is not None:
            raise TypeError(
                f"a {type(term).__name__} does not support log-transformed features: the policy of its "
                f"learner must not allow them, or the estimator needs standardize=True"
            )
        return term if self.expansion is None and self.scale is None else Mapped(term, self.without_clipping)

    @cached_property
    def expanding(self) -> FeatureMap:
        """The imputation and encoding only."""
        return FeatureMap(self.expansion)

    @cached_property
    def without_clipping(self) -> FeatureMap:
        """The same map without a range."""
        return replace(self, clipping=None)

    @property
    def n_levels(self) -> dict[int, int]:
        """The number of levels of each column of category codes."""
        return {} if self.expansion is None else self.expansion.n_levels

    def source(self, n_columns: int) -> Array:
        """The column, of d, that each feature is computed from, (e,)."""
        return np.arange(n_columns) if self.expansion is None else self.expansion.source

    def sum_by_source(self, values: Array) -> Array:
        """Sums of `values` (..., e) over the features of each column: (..., d)."""
        return values if self.expansion is None else self.expansion.sum_by_source(values)

    def chain(self, slopes: Array, X: Array) -> Array:
        """Derivatives for the columns of X (n, d) from those for the features (n, C, e), (n, C, d)."""
        if self.scale is not None:
            slopes = slopes / self.scale
        return slopes if self.expansion is None else self.expansion.chain(slopes, X)

    def check(self, n_features: int | None) -> int | None:
        """The number of features, e; a ValueError unless the arrays are consistent and fit d columns."""
        if self.expansion is not None:
            require_instance("expansion", self.expansion, ImputeAndEncode)
            self.expansion.check()
            if n_features not in (None, self.expansion.n_features):
                raise ValueError(f"expansion must be of {n_features} columns, got {self.expansion.n_features}")
            n_features = self.expansion.n_expanded
        for name, array in (("center", self.center), ("scale", self.scale)):
            if array is not None:
                n_features = np.size(array) if n_features is None else n_features
                require_field(name, array, (n_features,))
        if self.clipping is not None and n_features is not None:
            require_instance("clipping", self.clipping, ClipAndLog)
            self.clipping.check(n_features)
        return n_features


def around_clipped(term: Any, features: FeatureMap) -> Term:
    """The function ``x -> term(features(x))``, for a term that has a range of its own and can be standardised."""
    clipping = features.clipping
    if features.center is not None and features.scale is not None:
        term = term.standardized(features.center, features.scale)
    if clipping is not None:
        term = replace(term, clipping=clipping if term.clipping is None else term.clipping.after(clipping))
    expansion = features.expansion
    imputes = term.clipping is not None and term.clipping.means is not None
    if expansion is None or (imputes and expansion.only_imputes_means):
        return cast(Term, term)
    return Mapped(term, features.expanding)


def unmapped(term: Term) -> tuple[Term, FeatureMap]:
    """The function of features in a term, and the map to these features."""
    return (term.term, term.feature_map) if isinstance(term, Mapped) else (term, FeatureMap())


@final
@dataclass(frozen=True, eq=False)
class Mapped(Term):
    """``x -> term(features(x))``.

    Parameters
    ----------
    term : Term
        A function of the features.
    feature_map : FeatureMap
        Imputation, encoding and standardisation of X.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.terms import FeatureMap, Linear, Mapped
    >>> scaled = FeatureMap(center=np.array([10.0]), scale=np.array([2.0]))
    >>> term = Mapped(Linear(np.array([0]), np.ones((1, 1)), np.zeros(1)), scaled)
    >>> term(np.array([[10.0], [14.0]])).ravel()
    array([0., 2.])
    """

    term: Term
    feature_map: FeatureMap

    def __call__(self, X: Array) -> Array:
        return self.term(self.feature_map(X))

    def at_sparse(self, X: SparseRows) -> Array:
        return self.term(self.feature_map(X))

    @property
    def innermost(self) -> Term:
        return self.term.innermost

    def features(self, X: Array) -> Array:
        return self.term.features(self.feature_map(X))

    def scaled(self, factor: float) -> Mapped:
        return replace(self, term=self.term.scaled(factor))

    @classmethod
    def stack(cls, terms: Sequence[Mapped]) -> Mapped:
        return replace(terms[0], term=type(terms[0].term).stack([t.term for t in terms]))

    @property
    def family(self) -> Hashable:
        return Mapped, self.term.family, self.feature_map.key

    def merged(self) -> Mapped:
        return replace(self, term=self.term.merged())

    def materialized(self) -> Mapped:
        return replace(self, term=self.term.materialized())

    @classmethod
    def outputs_of(cls, terms: Sequence[Mapped], X: Array) -> list[Array]:
        def outputs(group: Sequence[Mapped]) -> Array:
            return outputs_of_each([term.term for term in group], group[0].feature_map(X))

        # Grouped by value: terms from a file do not share one map, but must give the same bits.
        return map_groups(terms, lambda term: term.feature_map.key, outputs)

    def with_arrays_of(self, other: Term) -> Mapped:
        if not isinstance(other, Mapped):
            return self
        return replace(self, term=self.term.with_arrays_of(other.term))

    def check(self, n_features: int | None, n_outputs: int | None) -> None:
        require_instance("term", self.term, Term)
        require_instance("feature_map", self.feature_map, FeatureMap)
        self.term.check(self.feature_map.check(n_features), n_outputs)

    def recoded(self, recoding: Recoding) -> Mapped:
        expansion = self.feature_map.expansion
        if expansion is None or not len(expansion.categorical):
            # Imputation for trees leaves the codes in their columns.
            return replace(self, term=self.term.recoded(recoding))
        return replace(self, feature_map=replace(self.feature_map, expansion=expansion.recoded(recoding)))

    def gradient(self, X: Array) -> Array:
        return self.feature_map.chain(self.term.gradient(self.feature_map(X)), X)

    def variances(self, X: Array, weight: Array) -> Array | None:
        # A column is credited with its missing indicator and one-hot columns.
        variances = self.term.variances(self.feature_map(X), weight)
        return None if variances is None else self.feature_map.sum_by_source(variances)

    def shapley(self, X: Array, background: Array) -> Array:
        # Rows are imputed before they are mixed.
        rows, others = self.feature_map(X), self.feature_map(background)
        source = self.feature_map.source(X.shape[1])
        if len(np.unique(source)) == len(source):
            return self.feature_map.sum_by_source(self.term.shapley(rows, others))
        return self.term.grouped_shapley(rows, others, source, X.shape[1])
