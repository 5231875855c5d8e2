"""The other systems of the papers, each a composition: a map and a linear SVM, or learner, loss and step."""

from __future__ import annotations

from typing import Any

from rffboost_ext import presets
from rffboost_ext.boosting.steps import ConfidenceRated, Unit
from rffboost_ext.estimators.classifier import RFFBoostClassifier
from rffboost_ext.learners import Spectrum
from rffboost_ext.losses import Exponential, SquaredError
from rffboost_ext.utils.param_validation import NON_NEGATIVE, require

from .feature_map import MappedSVM
from .greedy_features import GreedyConstruction
from .greedy_kernel import ChiSquare, GreedyKernel
from .kernel_boosting import BestSVC, BestSVR, FromZero, perfect
from .landmarks import PBLandmarks, RBFLandmarks
from .random_fourier_features import RandomFourier


def rff_svm(
    n_components: int = 100,
    gamma: float | str = "scale",
    C: float = 1.0,
    kernel: str | Spectrum = "gaussian",
    random_state: Any = None,
    **params: Any,
) -> MappedSVM:
    """Random Fourier features and a linear SVM (Rahimi and Recht 2007; Letarte et al. 2019).

    Parameters
    ----------
    n_components, gamma, kernel, random_state, **params
        As in :class:`RandomFourier`.
    C : float, default=1.0
        Inverse strength of the SVM's penalty.

    Returns
    -------
    MappedSVM
    """
    mapping = RandomFourier(n_components, gamma, kernel, random_state=random_state, **params)
    return MappedSVM(mapping, C, random_state=random_state)


def rbf_landmarks_svm(
    n_landmarks: float = 100,
    gamma: float | str = "scale",
    C: float = 1.0,
    selection: str = "random",
    random_state: Any = None,
    **params: Any,
) -> MappedSVM:
    """Kernel values to landmarks and a linear SVM (Letarte et al. 2019, 'RBF').

    Parameters
    ----------
    n_landmarks, gamma, selection, random_state, **params
        As in :class:`RBFLandmarks`.
    C : float, default=1.0
        Inverse strength of the SVM's penalty.

    Returns
    -------
    MappedSVM
    """
    mapping = RBFLandmarks(n_landmarks, gamma, selection, random_state=random_state, **params)
    return MappedSVM(mapping, C, random_state=random_state)


def pbrff(
    n_landmarks: float = 100,
    n_components: int = 10,
    gamma: float | str = "scale",
    beta: float = 1.0,
    C: float = 1.0,
    selection: str = "replacement",
    svm: str = "libsvm",
    random_state: Any = None,
    **params: Any,
) -> MappedSVM:
    """PB-Landmarks and a linear SVM, as in Gautheron et al. 2020.

    Letarte et al. 2019 take ``selection="random"`` or ``"centroids"`` and ``svm="liblinear_dual"``.

    Parameters
    ----------
    n_landmarks, n_components, gamma, beta, selection, random_state, **params
        As in :class:`PBLandmarks`.
    C, svm
        As in :class:`MappedSVM`.

    Returns
    -------
    MappedSVM

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from benchmarks.papers.baselines import pbrff
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> bool(pbrff(random_state=0).fit(X, y).score(X, y) > 0.96)
    True
    """
    shared = {"selection": selection, "random_state": random_state}
    mapping = PBLandmarks(n_landmarks, n_components, gamma, beta, **(shared | params))
    return MappedSVM(mapping, C, svm, random_state)


def greedy_pbrff(
    n_components: int = 100,
    gamma: float | str = "scale",
    beta: float = 1.0,
    C: float = 1.0,
    n_candidates: int = 20_000,
    random_state: Any = None,
    **params: Any,
) -> MappedSVM:
    """Greedy kernel learning by a pseudo-posterior, and a linear SVM (Letarte et al. 2019, section 5.4).

    Parameters
    ----------
    n_components, gamma, beta, n_candidates, random_state, **params
        As in :class:`GreedyKernel`.
    C : float, default=1.0
        Inverse strength of the SVM's penalty.

    Returns
    -------
    MappedSVM
    """
    mapping = GreedyKernel(n_components, n_candidates, gamma, beta, random_state=random_state, **params)
    return MappedSVM(mapping, C, random_state=random_state)


def okrff(
    n_components: int = 100,
    gamma: float | str = "scale",
    rho: float = 0.01,
    C: float = 1.0,
    n_candidates: int = 20_000,
    random_state: Any = None,
    **params: Any,
) -> MappedSVM:
    """Optimised kernel features and a linear SVM (Sinha and Duchi 2016, as in Letarte et al. 2019).

    Parameters
    ----------
    n_components, gamma, n_candidates, random_state, **params
        As in :class:`GreedyKernel`.
    rho : float, default=0.01
        Largest squared distance from the uniform distribution, see :class:`ChiSquare`.
    C : float, default=1.0
        Inverse strength of the SVM's penalty.

    Returns
    -------
    MappedSVM
    """
    require("okrff", "rho", rho, NON_NEGATIVE)
    return greedy_pbrff(n_components, gamma, rho, C, n_candidates, random_state, weighting=ChiSquare(), **params)


def gfc(n_components: int = 100, C: float = 1.0, random_state: Any = None, **params: Any) -> MappedSVM:
    """Greedy feature construction and a linear SVM (Oglic and Gaertner 2016, as in Gautheron et al. 2020).

    Parameters
    ----------
    n_components, random_state, **params
        As in :class:`GreedyConstruction`.
    C : float, default=1.0
        Inverse strength of the SVM's penalty.

    Returns
    -------
    MappedSVM
    """
    mapping = GreedyConstruction(n_components, random_state=random_state, **params)
    return MappedSVM(mapping, C, "libsvm", random_state)


def bmkr(
    n_estimators: int = 100,
    C: float = 1.0,
    learning_rate: float = 1.0,
    random_state: Any = None,
    **params: Any,
) -> RFFBoostClassifier:
    """BMKR (Wu et al. 2017, as in Gautheron et al.): least-squares boosting, the best of 11 SVRs per round.

    Labels are -1 and 1. Slow by nature: eleven support vector regressions on all rows in every round.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds.
    C : float, default=1.0
        Inverse strength of the SVRs' penalty.
    learning_rate : float, default=1.0
        Factor on every step.
    random_state, **params
        Further parameters of :class:`rffboost_ext.RFFBoostClassifier`. Nothing is random here.

    Returns
    -------
    RFFBoostClassifier
    """
    shared: dict[str, Any] = {"learning_rate": learning_rate, "random_state": random_state, "step": Unit()}
    loss = FromZero(SquaredError())
    return RFFBoostClassifier(loss, BestSVR(C), n_estimators=n_estimators, **(shared | params))


def mkboost(
    n_estimators: int = 100,
    C: float = 1.0,
    subsample: float | None = 1.0,
    random_state: Any = None,
    **params: Any,
) -> RFFBoostClassifier:
    """MKBoost (Xia and Hoi 2013, as in Gautheron et al. 2019): AdaBoost, the best of 17 SVMs per round.

    Slow by nature: seventeen support vector machines in every round. Ends with the first round that is right on
    every row.

    Parameters
    ----------
    n_estimators : int, default=100
        Rounds.
    C : float, default=1.0
        Inverse strength of the SVMs' penalty.
    subsample : float or None, default=1.0
        Rows drawn by their weights for each round, as a share of n; None trains on all rows with their weights.
    random_state, **params
        Further parameters of :class:`rffboost_ext.RFFBoostClassifier`.

    Returns
    -------
    RFFBoostClassifier
    """
    shared: dict[str, Any] = {"learning_rate": 1.0, "random_state": random_state, "step": ConfidenceRated()}
    learner, loss = BestSVC(C, subsample=subsample), FromZero(Exponential())
    callbacks = (perfect, *(params.pop("callbacks", None) or ()))
    return RFFBoostClassifier(loss, learner, n_estimators=n_estimators, callbacks=callbacks, **(shared | params))


def gbrff_random(n_estimators: int = 200, random_state: Any = None, **params: Any) -> RFFBoostClassifier:
    """Least-squares GBRFF whose landmarks are drawn, not learned (Gautheron et al. 2019, Figure 1).

    :func:`rffboost_ext.presets.gbrff` with random placement.

    Parameters
    ----------
    n_estimators, random_state, **params
        As in :func:`rffboost_ext.presets.gbrff`.

    Returns
    -------
    RFFBoostClassifier
    """
    learned = presets.gbrff(n_estimators, random_state=random_state, **params)
    return learned.set_params(learner__placement="random")
