"""The published algorithms as compositions of the same parts, with the names and symbols of the papers.

The default precision is float32; on more than 520,000 rows GBRFF2 then starts the search of a frequency on a
sample (``RFF1(start_rows=...)``). ``precision="float64"`` follows the published implementations to rounding.

References
----------
Gautheron, Germain, Habrard, Metzler, Morvant, Sebban and Zantedeschi, Landmark-based ensemble learning with random
Fourier features and gradient boosting, ECML-PKDD 2020 (and the least-squares version of 2019, without Metzler).
"""

from __future__ import annotations

from typing import Any

from .estimators.classifier import RFFBoostClassifier
from .learners import RFF1, RFFK

PUBLISHED: dict[str, Any] = {"extrapolation": "continue"}
"""Settings of the papers that differ from the estimators' defaults."""


def gbrff(
    n_estimators: int = 200,
    gamma: float | str = "scale",
    c: float = 1.0,
    n_components: int = 100,
    learning_rate: float = 1.0,
    random_state: Any = None,
    **params: Any,
) -> RFFBoostClassifier:
    """Least-squares GBRFF (2019): squared loss on labels -1 and +1, a learned landmark, Gibbs weights.

    Parameters
    ----------
    n_estimators : int, default=200
        Rounds, T.
    gamma : float or "scale", default="scale"
        Kernel parameter; the paper's frequencies ``N(0, 1)`` are ``gamma=0.5``.
    c : float, default=1.0
        Inverse temperature of the weights ``Q_j ~ exp(-c f_j)``.
    n_components : int, default=100
        Frequencies per round, K.
    learning_rate : float, default=1.0
        Factor on every step.
    random_state : int, RandomState or None, default=None
        Seed.
    **params
        Further parameters of :class:`rffboost_ext.RFFBoostClassifier`.

    Returns
    -------
    RFFBoostClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rffboost_ext import presets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> presets.gbrff(n_estimators=10, random_state=0).fit(X, y).predict_proba(X).shape
    (569, 2)
    """
    learner = RFFK(n_components, gamma, weighting="gibbs", beta=c, fit_criterion="squared")
    shared = PUBLISHED | {"step": "newton", "learning_rate": learning_rate, "random_state": random_state}
    return RFFBoostClassifier("squared_error", learner, n_estimators=n_estimators, **(shared | params))


def gbrff05(
    n_estimators: int = 100,
    gamma: float | str = "scale",
    beta: float = 1.0,
    n_components: int = 10,
    random_state: Any = None,
    **params: Any,
) -> RFFBoostClassifier:
    """GBRFF0.5 (ECML 2020): as :func:`gbrff1`, with landmarks drawn from the training rows.

    Parameters
    ----------
    n_estimators, gamma, beta, n_components, random_state, **params
        As in :func:`gbrff1`.

    Returns
    -------
    RFFBoostClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rffboost_ext import presets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(presets.gbrff05(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.8)
    True
    """
    learner = RFFK(n_components, gamma, placement="random", beta=beta, fit_criterion="exponential")
    return _exponential(learner, n_estimators, random_state, params)


def gbrff1(
    n_estimators: int = 100,
    gamma: float | str = "scale",
    beta: float = 1.0,
    n_components: int = 10,
    random_state: Any = None,
    **params: Any,
) -> RFFBoostClassifier:
    """GBRFF1 (ECML 2020, algorithm 2): exponential loss, a learned landmark, pseudo-posterior weights.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds, T.
    gamma : float or "scale", default="scale"
        Kernel parameter; frequencies are ``N(0, 2 gamma)``.
    beta : float, default=1.0
        Inverse temperature of the weights ``Q_j ~ exp(-beta sqrt(n) risk_j)``.
    n_components : int, default=10
        Frequencies per round, K.
    random_state : int, RandomState or None, default=None
        Seed.
    **params
        Further parameters of :class:`rffboost_ext.RFFBoostClassifier`.

    Returns
    -------
    RFFBoostClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rffboost_ext import presets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(presets.gbrff1(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.8)
    True
    """
    learner = RFFK(n_components, gamma, beta=beta, fit_criterion="exponential")
    return _exponential(learner, n_estimators, random_state, params)


def gbrff15(
    n_estimators: int = 100, gamma: float | str = "scale", random_state: Any = None, **params: Any
) -> RFFBoostClassifier:
    """GBRFF1.5 (ECML 2020): as :func:`gbrff2`, with only the phase learned.

    Parameters
    ----------
    n_estimators, gamma, random_state, **params
        As in :func:`gbrff2`.

    Returns
    -------
    RFFBoostClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rffboost_ext import presets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(presets.gbrff15(n_estimators=20, random_state=0).fit(X, y).score(X, y) > 0.8)
    True
    """
    return _exponential(
        RFF1(gamma, learn_frequency=False, fit_criterion="exponential"), n_estimators, random_state, params
    )


def gbrff2(
    n_estimators: int = 100,
    gamma: float | str = "scale",
    l2: float = 0.0,
    random_state: Any = None,
    **params: Any,
) -> RFFBoostClassifier:
    """GBRFF2 (ECML 2020, algorithm 3): exponential loss, one cosine per round, phase and frequency learned.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds, T.
    gamma : float or "scale", default="scale"
        Frequencies start at ``N(0, 2 gamma)``.
    l2 : float, default=0.0
        Penalty on the squared norm of the frequency, the paper's lambda.
    random_state : int, RandomState or None, default=None
        Seed.
    **params
        Further parameters of :class:`rffboost_ext.RFFBoostClassifier`.

    Returns
    -------
    RFFBoostClassifier

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from rffboost_ext import presets
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(presets.gbrff2(random_state=0).fit(X, y).score(X, y) > 0.97)
    True
    """
    return _exponential(RFF1(gamma, l2, fit_criterion="exponential"), n_estimators, random_state, params)


def _exponential(learner: Any, n_estimators: int, random_state: Any, params: dict[str, Any]) -> RFFBoostClassifier:
    """The setting that all algorithms of the ECML paper share."""
    shared = PUBLISHED | {"step": "confidence_rated", "learning_rate": 1.0, "random_state": random_state}
    return RFFBoostClassifier("exponential", learner, n_estimators=n_estimators, **(shared | params))
