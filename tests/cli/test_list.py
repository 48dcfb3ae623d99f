"""The list shows what is in the tuples."""

import json

from assay.anomaly.baselines import BASELINES
from assay.anomaly.checks import CHECKS
from assay.cli.main import main


def test_the_list_holds_every_entry_of_the_tuples(capsys):
    assert main(["list", "--json"]) == 0
    told = {need["need"]: need for need in json.loads(capsys.readouterr().out)}
    assert set(told) == {"anomaly", "compress", "surrogate", "physics"}
    assert [name for name, _ in told["anomaly"]["baselines"]] == [b.name for b in BASELINES]
    assert [code for code, _ in told["anomaly"]["checks"]] == [c.code for c in CHECKS]
    for need in told.values():
        for kind in ("candidates", "baselines", "checks"):
            assert need[kind]
            assert all(name and about for name, about in need[kind])


def test_the_list_reads_well(capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "PCA Q" in out
    assert CHECKS[0].code in out
