"""scikit-learn's own checks for every baseline, and the errors that bad parameters get."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_array
from sklearn.base import clone
from sklearn.utils import estimator_checks

from benchmarks.papers import baselines
from benchmarks.papers.baselines import (
    BestSVC,
    BestSVR,
    ChiSquare,
    GreedyConstruction,
    GreedyKernel,
    Kernel,
    MappedSVM,
    Matern,
    PBLandmarks,
    RandomFourier,
    RBFLandmarks,
    alignment_bound,
    chi_square_bound,
    landmark_bound,
    second_order_bound,
)
from benchmarks.papers.reproduce.papers import PAPERS
from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.persistence.values import TABLES

from ...estimators.test_sklearn import OF_PARTS, checks

# What scikit-learn asks of a part, whose fit takes a round.
PART_CHECKS = [
    estimator_checks.check_parameters_default_constructible,
    estimator_checks.check_no_attributes_set_in_init,
    estimator_checks.check_get_params_invariance,
    estimator_checks.check_set_params,
    estimator_checks.check_estimator_cloneable,
    estimator_checks.check_estimator_repr,
    estimator_checks.check_valid_tag_types,
]
FEW = (Kernel("rbf", gamma=0.5), Kernel("linear"))
MAPS = [
    RandomFourier(20, random_state=0),
    RandomFourier(20, kernel="matern", standardize=False, random_state=0),
    RBFLandmarks(0.5, random_state=0),
    RBFLandmarks(4, selection="centroids", random_state=0),
    PBLandmarks(0.3, random_state=0),
    PBLandmarks(3, selection="replacement", random_state=0),
    GreedyKernel(10, 50, random_state=0),
    GreedyKernel(10, 50, beta=0.1, weighting=ChiSquare(), random_state=0),
    GreedyConstruction(3, search_steps=10, random_state=0),
]
CLASSIFIERS = [
    MappedSVM(RandomFourier(20, random_state=0), random_state=0),
    MappedSVM(PBLandmarks(0.3, random_state=0), svm="libsvm", random_state=0),
    MappedSVM(GreedyConstruction(3, search_steps=10, random_state=0), random_state=0),
    baselines.bmkr(2, random_state=0).set_params(learner__kernels=FEW),
    baselines.mkboost(2, subsample=None, random_state=0).set_params(learner__kernels=FEW),
]

# Learners that are support vector machines.
FURTHER = [
    RFFBoostClassifier(learner=BestSVC(kernels=FEW), n_estimators=4, random_state=0),
    RFFBoostRegressor(learner=BestSVR(kernels=FEW), n_estimators=10, random_state=0),
]


ONE_OF_EACH = {type(model): model for model in (*MAPS, *CLASSIFIERS[:3])}.values()
CHECKS = [
    *checks((model, {}) for model in ONE_OF_EACH),
    *checks(((model, {}) for model in (*CLASSIFIERS[3:], *FURTHER)), OF_PARTS),
]


@pytest.mark.slow
@pytest.mark.parametrize(("estimator", "check"), CHECKS)
@pytest.mark.filterwarnings("ignore:n_landmarks")
def test_scikit_learn_accepts(estimator, check):
    check(estimator)


PARTS = [BestSVC(), BestSVR(), *(table.get(name)() for table in TABLES for name in table.names())]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: type(part).__name__)
def test_scikit_learn_accepts_the_constructors_of_parts(part):
    for check in PART_CHECKS:
        check(type(part).__name__, part)


X = np.random.default_rng(0).standard_normal((20, 2))
Y = np.arange(20) % 2

BAD = [
    (RandomFourier(kernel="gauss"), "'gauss'.*'gaussian'"),
    (RandomFourier(kernel=Matern(0.0)), "nu"),
    (RandomFourier(standardize=1.5), "standardize"),
    (RBFLandmarks(1.5), "n_landmarks"),
    (RBFLandmarks(selection="all"), "selection"),
    (PBLandmarks(4, beta=-1.0), "beta"),
    (GreedyKernel(n_candidates=0), "n_candidates"),
    (GreedyKernel(weighting="chi"), "weighting"),
    (GreedyConstruction(l2=-1.0), "l2"),
    (MappedSVM("rff"), "mapping"),
    (MappedSVM(RandomFourier(), svm="svc"), "svm"),
    (baselines.bmkr(C=-1.0), "C"),
    (baselines.bmkr().set_params(learner__kernels=()), "kernels"),
    (baselines.bmkr().set_params(learner__kernels=("rbf",)), "kernels"),
    (baselines.mkboost(subsample=0.0), "subsample"),
]


@pytest.mark.parametrize(
    ("model", "name"), BAD, ids=[f"{type(m).__name__}-{n}-{i}" for i, (m, n) in enumerate(BAD)]
)
def test_bad_parameters_are_named(model, name):
    with pytest.raises((ValueError, TypeError), match=name):
        model.fit(X, Y)


@pytest.mark.parametrize("model", [*MAPS, *CLASSIFIERS], ids=lambda model: type(model).__name__)
def test_absent_entries_of_a_sparse_matrix_are_0(model):
    dense = np.where(np.abs(X) < 0.5, 0.0, X)
    name = "transform" if hasattr(model, "transform") else "decision_function"
    outputs = [getattr(clone(model).fit(rows, Y), name)(rows) for rows in (dense, csc_array(dense))]
    np.testing.assert_array_equal(*outputs)


@pytest.mark.parametrize("model", [*MAPS, *CLASSIFIERS], ids=lambda model: type(model).__name__)
def test_one_class_is_refused(model):
    if getattr(model, "supervised", True):
        with pytest.raises(ValueError, match="class"):
            clone(model).fit(X, np.zeros(20))


def test_a_centroid_needs_a_distinct_row():
    with pytest.raises(ValueError, match="n_landmarks"):
        RBFLandmarks(6, selection="centroids").fit(np.zeros((20, 2)), Y)


@pytest.mark.parametrize("selection", ["random", "centroids"])
def test_more_landmarks_than_rows_are_all_rows(selection):
    with pytest.warns(UserWarning, match=r"n_landmarks=30 is more than the 20 rows"):
        many = RBFLandmarks(30, selection=selection, random_state=0).fit(X, Y).transform(X)
    every = RBFLandmarks(1.0, selection=selection, random_state=0).fit(X, Y).transform(X)
    np.testing.assert_array_equal(many, every)


@pytest.mark.parametrize("model", [m for m in MAPS if m.standardize], ids=lambda model: type(model).__name__)
def test_units_do_not_matter(model):
    """Standardised inside, so that the features of ``a X + b`` are those of X."""
    moved = 50.0 * X - 7.0
    plain, other = (clone(model).fit(data, Y).transform(data) for data in (X, moved))
    np.testing.assert_allclose(other, plain, atol=1e-6)


@pytest.mark.parametrize("bound", [landmark_bound, alignment_bound, second_order_bound, chi_square_bound])
@pytest.mark.parametrize(
    "bad", [{"loss": 1.2}, {"divergence": -0.1}, {"n": 1}, {"epsilon": 0.0}, {"proxy": 0.0}], ids=str
)
def test_bounds_name_what_is_wrong(bound, bad):
    params = {"loss": 0.2, "divergence": 0.1, "n": 10, "epsilon": 0.05} | bad
    divergence = "chi_square" if bound is chi_square_bound else "kl"
    params[divergence] = params.pop("divergence")
    (name,) = bad
    with pytest.raises(
        ValueError, match=f"{bound.__name__}: {divergence if name == 'divergence' else name} must be"
    ):
        bound(**params)


CASES = [(paper, name) for paper, systems in PAPERS.items() for name in systems]


@pytest.mark.parametrize(("paper", "name"), CASES)
def test_grids_name_parameters_that_there_are(paper, name):
    published = PAPERS[paper][name]
    pytest.importorskip("lightgbm" if name == "LGBM" else "sklearn")
    model = published.make(5)
    for block in published.grid(4):
        model.set_params(**{key: values[-1] for key, values in block.items()})
        for key, values in block.items():
            assert model.get_params()[key] == values[-1]


def test_grids_cover_the_tables():
    def candidates(published):
        return sum(np.prod([len(values) for values in block.values()]) for block in published.grid(4))

    sizes = {paper: {name: candidates(p) for name, p in systems.items()} for paper, systems in PAPERS.items()}
    assert sizes["ecml2020"] == {"BMKR": 5, "GFC": 5, "PBRFF": 125, "GBRFF1": 25, "LGBM": 50, "GBRFF2": 25}
    assert sizes["workshop2019"] == {"XGB": 25, "LGBM": 25, "MKBOOST": 9, "BMKR": 45, "PBRFF": 49, "GBRFF": 60}
    assert sizes["letarte2019"] == {
        "SVM_RBF": 100, "RBF_landmarks": 10, "PB": 350, "RFF": 10, "PBRFF": 70, "OKRFF": 50,
    }  # fmt: skip
