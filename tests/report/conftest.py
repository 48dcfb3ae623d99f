"""The results of these tests are made up: the figures of the real needs do not fit them."""

import pytest

from assay.report import figures

from . import fake


@pytest.fixture(autouse=True)
def _no_figures_of_real_needs(monkeypatch):
    monkeypatch.setattr(figures, "specs_of", lambda need: ())


@pytest.fixture(scope="session")
def drawn():
    """Return the made-up figures, drawn once for all tests."""
    return figures.render(fake.not_earned(), fake.FIGURES)
