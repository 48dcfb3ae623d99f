"""One table written in many ways must read as the same numbers."""

import bz2
import gzip
import lzma

import numpy as np
import pytest

from assay.data import read_table

NAMES = ("Pressure", "Temperature", "Flow")
UNITS = ("bar", "degC", "m3/h")


def values(n=40):
    rng = np.random.default_rng(3)
    return np.round(rng.normal([3.0, 1500.0, -0.02], [1.0, 400.0, 0.01], (n, 3)), 4)


def write(
    *, separator=",", decimal=".", header=NAMES, units=None, preamble="", newline="\n",
    trailing="", quote=False, number=repr, index=False, final=True, trailing_header=True,
):  # fmt: skip
    def cell(value):
        text = number(float(value)).replace(".", decimal)
        return f'"{text}"' if quote else text

    lines = [separator.join(header) + (trailing if trailing_header else "")] if header else []
    if units:
        lines.append(separator.join(units) + trailing)
    for k, row in enumerate(values()):
        cells = ([str(k)] if index else []) + [cell(v) for v in row]
        lines.append(separator.join(cells) + trailing)
    return preamble + newline.join(lines) + (newline if final else "")


def grouped(value):
    return f"{value:,.4f}"


def spaced(value):
    return f"{value:,.4f}".replace(",", " ")


def german(value):
    return f"{value:,.4f}".replace(",", "_").replace(".", ",").replace("_", ".")


BRACKETS = tuple(f"[{u}]" for u in UNITS)
UNITS_IN_NAMES = tuple(f"{n} [{u}]" for n, u in zip(NAMES, UNITS, strict=True))

# name: (text, whether units are known, first line of data)
DIALECTS = {
    "comma": (write(), False, 2),
    "semicolon": (write(separator=";"), False, 2),
    "tab": (write(separator="\t"), False, 2),
    "bar": (write(separator="|"), False, 2),
    "blank": (write(separator=" "), False, 2),
    "blanks": (write(separator="    "), False, 2),
    "blank and tab at the end": (write(separator=" \t", trailing=" "), False, 2),
    "comma and blank": (write(separator=", "), False, 2),
    "decimal comma": (write(separator=";", decimal=","), False, 2),
    "decimal comma, tab": (write(separator="\t", decimal=","), False, 2),
    "decimal comma, blank": (write(separator=" ", decimal=","), False, 2),
    "decimal comma, quoted, comma": (write(decimal=",", quote=True), False, 2),
    "thousands comma": (write(separator=";", number=grouped), False, 2),
    "thousands comma, quoted": (write(number=grouped, quote=True), False, 2),
    "thousands dot": (write(separator=";", number=german, decimal="."), False, 2),
    "thousands blank": (write(separator=";", number=spaced), False, 2),
    "quoted": (write(quote=True), False, 2),
    "scientific": (write(number="{:.10e}".format), False, 2),
    "Fortran": (write(number=lambda v: f"{v:.10e}".replace("e", "D")), False, 2),
    "Windows lines": (write(newline="\r\n"), False, 2),
    "old Mac lines": (write(newline="\r"), False, 2),
    "no last line end": (write(final=False), False, 2),
    "blank lines at the end": (write() + "\n\n\n", False, 2),
    "trailing separator": (write(separator=";", trailing=";"), False, 2),
    "trailing separator, not in header": (
        write(separator=";", trailing=";", trailing_header=False), False, 2,
    ),
    "units row": (write(units=BRACKETS), True, 3),
    "bare units row": (write(separator=";", decimal=",", units=UNITS), True, 3),
    "units in names": (write(header=UNITS_IN_NAMES), True, 2),
    "units in round brackets": (
        write(header=tuple(f"{n} ({u})" for n, u in zip(NAMES, UNITS, strict=True))), True, 2,
    ),
    "comments": (write(preamble="# logger 7\n# 2024, spring; a test\n"), False, 4),
    "percent comments": (write(separator="\t", preamble="% logger 7\n"), False, 3),
    "preamble": (write(preamble="Data logger 7\nStation: North\n\n"), False, 5),
    "preamble with semicolons": (
        write(separator=";", preamble="Logger;7\nStation;North\n", units=BRACKETS), True, 5,
    ),
    "separator told to Excel": (write(separator=";", preamble="sep=;\n"), False, 3),
    "header in a comment": (
        write(separator=" ", header=None, preamble="# Pressure Temperature Flow\n"), False, 2,
    ),
    "index without a name": (write(header=("", *NAMES), index=True), False, 2),
    "index not in header": (write(separator=" ", index=True), False, 2),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_same_numbers_in_every_dialect(dialect, tmp_path):
    text, units, first = DIALECTS[dialect]
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode())
    table = read_table(path)
    assert table.columns == NAMES
    np.testing.assert_allclose(table.X, values(), rtol=1e-9)
    assert table.units == (UNITS if units else ("", "", ""))
    if dialect != "old Mac lines":
        assert table.row_numbers[0] == first
        assert table.row_numbers[-1] == first + 39


ENCODINGS = {
    "UTF-8": lambda t: t.encode(),
    "UTF-8 with mark": lambda t: t.encode("utf-8-sig"),
    "UTF-16 with mark": lambda t: t.encode("utf-16"),
    "UTF-16 little": lambda t: t.encode("utf-16-le"),
    "UTF-16 big": lambda t: b"\xfe\xff" + t.encode("utf-16-be"),
    "UTF-32": lambda t: t.encode("utf-32"),
    "Latin-1": lambda t: t.encode("latin-1"),
    "gzip": lambda t: gzip.compress(t.encode()),
    "bzip2": lambda t: bz2.compress(t.encode()),
    "xz": lambda t: lzma.compress(t.encode()),
    "gzip of Latin-1": lambda t: gzip.compress(t.encode("latin-1")),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_encodings(encoding, tmp_path):
    path = tmp_path / "table.csv"
    text = write(separator=";", header=("Überdruck [bar]", "Größe [°C]", "Flow"))
    path.write_bytes(ENCODINGS[encoding](text))
    table = read_table(path)
    assert table.columns == ("Überdruck", "Größe", "Flow")
    assert table.units == ("bar", "°C", "")
    np.testing.assert_allclose(table.X, values(), rtol=1e-12)


def test_latin1_only_far_down(tmp_path):
    path = tmp_path / "table.csv"
    lines = [f"{k}.5,ok\n" for k in range(60_000)]
    lines[50_000] = "7.5,gestört\n"
    path.write_bytes(("a,state\n" + "".join(lines)).encode("latin-1"))
    table = read_table(path, label="state")
    assert table.n_rows == 60_000
    assert table.labels.sum() == 1
    assert any("Latin-1" in note for note in table.notes)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("seed", range(4))
def test_random_tables_come_back(separator, seed, tmp_path):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 60)), int(rng.integers(2, 12))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-12, 12, size=d)
    path = tmp_path / "t.txt"
    names = [f"sensor{k}" for k in range(d)]
    body = "\n".join(separator.join(repr(float(v)) for v in row) for row in X)
    path.write_text(separator.join(names) + "\n" + body)
    table = read_table(path)
    assert table.columns == tuple(names)
    np.testing.assert_array_equal(table.X, X)


def test_numbers_without_header(tmp_path):
    path = tmp_path / "t.txt"
    np.savetxt(path, values())
    table = read_table(path)
    assert table.columns == ("x0", "x1", "x2")
    np.testing.assert_array_equal(table.X, values())


@pytest.mark.parametrize("text", ["value\n1,5\n2,5\n3,25\n", "value\n1,5\n2,25\n10,125\n"])
def test_one_column_with_decimal_commas(text, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(text)
    table = read_table(path)
    expected = [float(x.replace(",", ".")) for x in text.split()[1:]]
    assert table.X[:, 0].tolist() == expected


def test_one_column(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("value\n1.5\n2.5\n")
    assert read_table(path).X.tolist() == [[1.5], [2.5]]


def test_one_row(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n1.5,2.5\n")
    assert read_table(path).X.tolist() == [[1.5, 2.5]]


def test_quoted_separators_and_line_breaks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,note,b\n1,"x, y",2\n3,"two\nlines",4\n5,"say ""hi""",6\n')
    table = read_table(path)
    assert table.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert any("'note'" in n for n in table.notes)


def test_lines_are_numbered_past_comments(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("# head\na,b\n1,2\n# pause\n3,4\n5,6\n")
    table = read_table(path)
    assert table.X.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert table.row_numbers.tolist() == [3, 5, 6]


def test_channel_numbers_as_names(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(",0,1,2\n0,1.5,2.5,3.5\n1,4.5,5.5,6.5\n2,7.5,8.5,9.5\n")
    table = read_table(path)
    assert table.columns == ("0", "1", "2")
    assert table.X[0].tolist() == [1.5, 2.5, 3.5]


def test_a_glob_pattern_as_file_name(tmp_path):
    path = tmp_path / "run[1]*.csv"
    path.write_text("a,b\n1,2\n3,5\n")
    assert read_table(path).n_rows == 2


def test_big_files_pass_through_disk_with_the_same_numbers(tmp_path, monkeypatch):
    import tempfile

    from assay.data import delimited

    monkeypatch.setattr(delimited, "_BIG_BYTES", 100)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    path = tmp_path / "t.csv"
    path.write_text(write().replace("1500", "n/a"))
    small = read_table(path)
    assert small.n_columns == 3
    np.testing.assert_allclose(small.X, values()[small.row_numbers - 2], rtol=1e-12)
    assert [p.name for p in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize("value", ["5", "5.5", "1e3"])
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_blank_in_a_time_stamp_is_no_separator(separator, value, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f'2024-01-01 00:00:{k:02d}{separator}{value}{separator}"ok"' for k in range(20)]
    path.write_text(separator.join(["time", '"p [bar]"', "state"]) + "\n" + "\n".join(rows))
    table = read_table(path, time="time", label="state")
    assert table.columns == ("p",)
    assert table.X[:, 0].tolist() == [float(value)] * 20


def test_two_columns_with_the_separator_told_to_excel(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("sep=;\nZeit;Druck [bar]\n01.02.2024 10:00;1,5\n01.02.2024 10:01;2,5\n")
    table = read_table(path, time="Zeit")
    assert table.X.tolist() == [[1.5], [2.5]]
    assert table.units == ("bar",)
    assert table.times[0] == np.datetime64("2024-02-01T10:00")
