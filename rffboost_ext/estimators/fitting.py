"""What a fit needs besides its plan: the range of the features, callbacks, and the notice of compilation."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..boosting.callbacks import Callback, ProgressPrinter
from ..boosting.parts import Parts
from ..data.dataset import Dataset
from ..persistence.checkpoint import Checkpoint
from ..preprocessing.feature_expansion import fit_clipping
from ..preprocessing.log_transform import choose_log_transform
from ..terms import ClipAndLog
from ..utils.param_validation import is_auto
from .learner_policies import policy_of


def clip_features(estimator: Any, parts: Parts, data: Dataset, seed: int) -> ClipAndLog | None:
    """The range of the columns that learners get, the log transform of skewed ones, and imputation by means."""
    expansion = estimator.encoder_.expansion
    if estimator.extrapolation != "constant":
        only_imputes = expansion is not None and expansion.only_imputes_means
        return ClipAndLog.only_imputing(expansion.means) if only_imputes else None
    clipping = fit_clipping(data.X, expansion)
    if policy_of(parts.learner).allows_log(parts.learner) and is_auto(estimator.standardize):
        clipping = choose_log_transform(clipping, data, parts.loss, expansion, seed)
    return clipping


def combined_callbacks(given: Sequence[Callback] | None, verbose: int) -> list[Callback]:
    """The user's callbacks, then the one that prints."""
    callbacks: list[Callback] = [one for one in given or () if not isinstance(one, Checkpoint)]
    return [*callbacks, ProgressPrinter(verbose)] if verbose else callbacks


def announcing_compilation(verbose: int) -> AbstractContextManager[None]:
    """A context that announces compilation if the fit is verbose."""
    if not verbose:
        return nullcontext()
    from ..kernels.compile_notice import announce_compilation

    return announce_compilation()
