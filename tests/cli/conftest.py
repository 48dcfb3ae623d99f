"""Commands that run inside the test process leave JAX's global settings alone."""

import pytest


@pytest.fixture(autouse=True)
def _no_cache_of_compiled_programs(monkeypatch):
    monkeypatch.setattr("assay.cli.options.keep_programs", lambda: None)
