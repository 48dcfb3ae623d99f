"""Sobol indices against closed forms, and paths of a process against its moments."""

import numpy as np
import pytest

from assay.errors import StudyError
from assay.problems import AFTERSLIP, ISHIGAMI
from assay.surrogate.ensemble import DeepEnsemble
from assay.surrogate.gp import GaussianProcess
from assay.surrogate.mlp import MLPSurrogate
from assay.surrogate.outputs import PCAOutputs
from assay.surrogate.paths import possible_outputs, sample_paths
from assay.surrogate.response_surface import MeanOutput, ResponseSurface
from assay.surrogate.sobol import sobol_indices


def test_a_linear_surface_has_the_indices_of_its_slopes():
    X = np.random.default_rng(0).uniform(size=(60, 3))
    surface = ResponseSurface(degree=1).fit(X, X @ [3.0, 2.0, 0.0])
    found = sobol_indices(surface, [[0.0, 1.0], [-1.0, 1.0], [0.0, 5.0]], names=["a", "b", "c"])
    expected = np.array([9.0, 16.0, 0.0]) / 25.0
    assert found.first == pytest.approx(expected, abs=0.005)
    assert found.total == pytest.approx(expected, abs=0.005)
    assert found.spread == pytest.approx(np.sqrt(25.0 / 12.0), rel=1e-3)
    assert found.evaluations == 2**13 * 5
    assert np.isnan(found.surrogate_sd).all()
    assert "does not know its error" in str(found)


def test_an_interaction_is_in_the_total_only():
    X = np.random.default_rng(0).uniform(-1.0, 1.0, size=(60, 2))
    surface = ResponseSurface(degree=2).fit(X, X[:, 0] * X[:, 1])
    found = sobol_indices(surface, [[-1.0, 1.0], [-1.0, 1.0]])
    assert found.first == pytest.approx([0.0, 0.0], abs=0.01)
    assert found.total == pytest.approx([1.0, 1.0], abs=0.01)
    assert (found.first_interval[:, 0] < 0.0).all()
    assert (found.first_interval[:, 1] > 0.0).all()


def test_ishigami_from_a_gaussian_process():
    X = ISHIGAMI.sample(300, 0)
    gp = GaussianProcess(bounds=ISHIGAMI.bounds, starts=1).fit(X, ISHIGAMI(X)[:, 0])
    found = sobol_indices(gp, names=ISHIGAMI.inputs)
    assert found.first == pytest.approx(ISHIGAMI.sobol_first, abs=0.02)
    assert found.total == pytest.approx(ISHIGAMI.sobol_total, abs=0.03)
    assert (found.first_interval[:, 0] <= ISHIGAMI.sobol_first).all()
    assert (ISHIGAMI.sobol_first <= found.first_interval[:, 1]).all()
    assert (found.surrogate_sd > 0.0).all()


@pytest.mark.slow
def test_ishigami_from_a_deep_ensemble():
    X = ISHIGAMI.sample(300, 0)
    model = DeepEnsemble(MLPSurrogate(bounds=ISHIGAMI.bounds)).fit(X, ISHIGAMI(X)[:, 0])
    found = sobol_indices(model, ISHIGAMI.bounds)
    assert found.first == pytest.approx(ISHIGAMI.sobol_first, abs=0.02)
    assert found.functions == 5


def test_fewer_runs_widen_the_interval():
    widths = []
    for n in (40, 300):
        X = ISHIGAMI.sample(n, 0)
        gp = GaussianProcess(bounds=ISHIGAMI.bounds, starts=1).fit(X, ISHIGAMI(X)[:, 0])
        widths.append(sobol_indices(gp, n=2**11).surrogate_sd[0, :2])
    assert (widths[0] > 2.0 * widths[1]).all()


def test_paths_have_the_moments_of_the_process():
    X = np.array([0.0, 1.0, 2.0, 4.0, 6.0])[:, None]
    gp = GaussianProcess(
        transform="identity", mean="average", starts=[[0.3, 1e-4]], most_steps=1
    ).fit(X, np.sin(X[:, 0]))
    new = np.linspace(0.0, 6.0, 25)[:, None]
    paths = sample_paths(gp, new, 2000)[:, :, 0]
    mean, std = gp.predict(new, return_std=True)
    latent = np.sqrt(np.maximum(std**2 - gp.noise_[0] ** 2, 0.0))
    assert np.abs(paths.mean(axis=0) - mean).max() < 0.1 * latent.max()
    assert np.abs(paths.std(axis=0) - latent).max() < 0.1 * latent.max()


def test_possible_outputs_go_through_modes_and_members():
    X = AFTERSLIP.sample(40, 0)
    member = MLPSurrogate(hidden=(8,), steps=50)
    ensemble = PCAOutputs(DeepEnsemble(member, size=3), modes=2).fit(X, AFTERSLIP(X))
    each = possible_outputs(ensemble, X)
    assert each.shape == (3, 40, 40)
    assert each.mean(axis=0) == pytest.approx(ensemble.predict(X), rel=1e-4, abs=1e-2)
    process = PCAOutputs(GaussianProcess(starts=1), modes=2).fit(X, AFTERSLIP(X))
    each = possible_outputs(process, X, n=4)
    assert each.shape == (4, 40, 40)
    apart = np.abs(each - process.predict(X)).max()
    assert apart < 0.05 * AFTERSLIP(X).std()
    assert possible_outputs(ResponseSurface().fit(X, AFTERSLIP(X)), X) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"n": 1000}, "power of 2"),
        ({"n": True}, "power of 2"),
        ({"output": 1}, "from 0 to 0"),
        ({"names": ["a"]}, "2 different names"),
    ],
)
def test_choices_out_of_range_are_refused(changes, said):
    X = np.random.default_rng(0).uniform(size=(20, 2))
    surface = ResponseSurface(degree=1).fit(X, X[:, 0])
    with pytest.raises(StudyError, match=said) as caught:
        sobol_indices(surface, **changes)
    assert caught.value.hint


def test_of_several_outputs_one_must_be_named():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    surface = ResponseSurface(degree=1).fit(X, np.c_[2.0 * X[:, 0] + X[:, 1], X[:, 1]])
    box = [[0.0, 1.0], [0.0, 1.0]]
    with pytest.raises(StudyError, match="2 outputs, and `output` does not say which"):
        sobol_indices(surface, box)
    firsts = [sobol_indices(surface, box, output=j).first for j in (0, 1)]
    assert firsts[0] == pytest.approx([0.8, 0.2], abs=0.01)
    assert firsts[1] == pytest.approx([0.0, 1.0], abs=0.01)


def test_an_output_that_does_not_vary_has_no_shares():
    X = np.random.default_rng(0).uniform(size=(20, 2))
    with pytest.raises(StudyError, match="does not vary in the box"):
        sobol_indices(MeanOutput().fit(X, X[:, 0]), [[0.0, 1.0], [0.0, 1.0]])
    with pytest.raises(StudyError, match="not known"):
        sobol_indices(MeanOutput().fit(X, X[:, 0]))
