"""Ensembles as values: stages, truncation, compaction, algebra, and steps that keep less than all."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from rffboost_ext import Design, Ensemble, Step, boost
from rffboost_ext.terms import FeatureMap
from rffboost_ext.terms.ensemble import mean_ensemble

from ..cases import LEARNER_CASES, LOSS_CASES, make_data
from ..own_parts import Linear
from .test_terms import cosines, trees

ROUNDS = 6


class Ridge(Step):
    """A user's own step that also shrinks what was there: ``raw <- 0.9 raw + 0.3 output``."""

    def move(self, round, output):
        return 0.9, 0.3


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((40, 4))


def random_ensemble(seed, keep=1.0):
    """Terms of three families in turn."""
    rng = np.random.default_rng(seed)
    makers = [cosines, trees, lambda rng: Linear(rng.standard_normal((4, 1)))]
    terms = tuple(makers[i % 3](rng) for i in range(ROUNDS))
    moves = np.column_stack([np.full(ROUNDS, keep), rng.standard_normal(ROUNDS)])
    return Ensemble(rng.standard_normal(1), terms, moves)


keeps = pytest.mark.parametrize("keep", [1.0, 0.8])


def by_definition(ensemble, X):
    raw = np.tile(ensemble.baseline, (len(X), 1))
    for term, (keep, length) in zip(ensemble.terms, ensemble.moves, strict=True):
        raw = keep * raw + length * term(X)
    return raw


@keeps
def test_raw(keep, X):
    ensemble = random_ensemble(1, keep)
    np.testing.assert_allclose(ensemble.raw(X), by_definition(ensemble, X), rtol=0, atol=1e-12)
    # Lengths are the factors of the final sum.
    terms = sum(length * term(X) for term, length in zip(ensemble.terms, ensemble.lengths, strict=True))
    np.testing.assert_allclose(ensemble.raw(X), keep**ROUNDS * ensemble.baseline + terms, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ensemble)).raw(X), ensemble.raw(X))


@keeps
def test_staged_and_truncated(keep, X):
    ensemble = random_ensemble(1, keep)
    stages = list(ensemble.staged(X))
    assert len(stages) == ROUNDS + 1
    for t, stage in enumerate(stages):
        assert len(ensemble.truncated(t)) == len(ensemble[:t]) == t
        np.testing.assert_allclose(stage, ensemble.truncated(t).raw(X), rtol=0, atol=1e-12)
        np.testing.assert_allclose(stage, ensemble[:t].raw(X), rtol=0, atol=1e-12)


@keeps
def test_compact_is_one_block_per_family(keep, X):
    ensemble = random_ensemble(1, keep)
    compact = ensemble.compact()
    assert len(compact) == 3
    assert len({type(term) for term in compact.terms}) == 3
    np.testing.assert_allclose(compact.raw(X), ensemble.raw(X), rtol=0, atol=1e-12)
    np.testing.assert_allclose(compact.compact().raw(X), ensemble.raw(X), rtol=0, atol=1e-12)


@keeps
def test_algebra(keep, X):
    a, b = random_ensemble(1, keep), random_ensemble(2)
    for made, expected in [
        (a + b, a.raw(X) + b.raw(X)),
        (0.5 * a, 0.5 * a.raw(X)),
        (a * np.float64(-2.0), -2.0 * a.raw(X)),
        (a + b + a, 2.0 * a.raw(X) + b.raw(X)),
        (0.3 * (a + b) + 0.7 * b, 0.3 * a.raw(X) + b.raw(X)),
        (mean_ensemble([a, b]), 0.5 * (a.raw(X) + b.raw(X))),
    ]:
        assert isinstance(made, Ensemble)
        np.testing.assert_allclose(made.raw(X), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(list(made.staged(X))[-1], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("outputs", [1, 2])
def test_outputs_are_the_learned_representation(outputs, X):
    rng = np.random.default_rng(0)
    terms = (cosines(rng, outputs), trees(rng, outputs))
    ensemble = Ensemble(np.zeros(outputs), terms, np.ones((2, 2)))
    features = ensemble.outputs(X)
    assert features.shape == (len(X), 3 + outputs)
    rebuilt = features @ np.vstack([terms[0].weight, np.eye(outputs)])
    np.testing.assert_allclose(rebuilt, ensemble.raw(X), rtol=0, atol=1e-12)


def test_an_ensemble_of_no_rounds_is_its_baseline(X):
    empty = random_ensemble(1).truncated(0)
    np.testing.assert_array_equal(empty.raw(X), np.tile(empty.baseline, (len(X), 1)))
    assert empty.outputs(X).shape == (len(X), 0)
    assert repr(empty) == "<Ensemble of 0 rounds, 1 output>"
    assert len(empty.compact()) == 0


@pytest.mark.parametrize("rounds", [0, slice(1, 3), slice(None, None, 2), "a"])
def test_only_the_first_rounds_can_be_taken(rounds):
    with pytest.raises(TypeError, match=r"ensemble\[:50\]"):
        random_ensemble(1)[rounds]


def test_only_numbers_scale_an_ensemble_and_ensembles_are_added():
    for other in ("a", 2.0j, np.complex128(2.0j), random_ensemble(1)):
        with pytest.raises(TypeError):
            random_ensemble(1) * other
    for wrong in (lambda a: a + 1.0, lambda a: 1 + a):
        with pytest.raises(TypeError):
            wrong(random_ensemble(1))
    with pytest.raises(ValueError, match="finite number, got nan"):
        np.nan * random_ensemble(1)
    with pytest.raises(ValueError, match="1 and 2 outputs"):
        random_ensemble(1) + Ensemble(np.zeros(2), (), np.empty((0, 2)))
    with pytest.raises(ValueError, match="ensembles"):
        mean_ensemble([])


@pytest.mark.parametrize("learner", LEARNER_CASES, ids=str)
@pytest.mark.parametrize("step", ["auto", Ridge()], ids=["auto", "ridge"])
def test_the_loops_scores_are_the_ensembles(learner, step):
    X, y = make_data(LOSS_CASES[0])
    scores = []
    fitted = boost(
        Design(X, FeatureMap(center=X.mean(axis=0), scale=X.std(axis=0))),
        y[:, None].astype(float),
        loss="exponential",
        learner=learner.make(),
        step=step,
        n_estimators=ROUNDS,
        random_state=0,
        callbacks=[lambda progress: scores.append(progress.raw)],
    )
    stages = list(fitted.staged(X))
    np.testing.assert_allclose(scores, stages[1:], rtol=0, atol=learner.drift)
    np.testing.assert_allclose(fitted.raw(X), stages[-1], rtol=0, atol=1e-12)
