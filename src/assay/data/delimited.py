"""Text tables: the dialect is found from the head, polars reads the rest."""

import csv
import io
import os
import shutil
import tempfile
import warnings
from pathlib import Path

import numpy as np

from assay.data.chars import clean_names, counted, printable
from assay.data.encoding import decode, encoding_note, head_of, tabbed, text_content
from assay.data.raw import Raw
from assay.data.sniff import HEAD_BYTES, WHITESPACE, Dialect, sniff
from assay.errors import DataError

_BIG_BYTES = 1 << 28  # above it columns pass through a temporary Parquet file, not memory


def read_text_table(path: Path, shown: str) -> Raw:
    """Open a text table; `shown` is what messages call the file."""
    content, notes = text_content(path, shown)
    head = content[:HEAD_BYTES] if isinstance(content, bytes) else head_of(path)
    complete = len(head) < HEAD_BYTES
    text = head.decode("utf-8", errors="ignore").removeprefix("\ufeff")
    if not text.strip():
        raise DataError(f"'{shown}' is empty.", hint="Check that the file was written completely.")
    dialect = sniff(text, complete=complete)
    if dialect is None:
        raise DataError(
            f"'{shown}' holds only comments, no rows of data.",
            hint="Check that the file was written completely.",
        )
    if dialect.separator == WHITESPACE:
        content = tabbed(content if isinstance(content, bytes) else path.read_bytes())
    return _open(content, dialect, shown, [*notes, *dialect.notes])


def _open(content, dialect: Dialect, shown, notes):
    width = dialect.n_fields + dialect.trailing
    given = dialect.names
    if given is None:
        names, units, aliases = tuple(f"x{k}" for k in range(dialect.n_fields)), (), None
        notes.append("No line with column names: called x0, x1, ...")
    else:
        given = (*given, *[""] * (dialect.n_fields - len(given)))
        names, units, aliases, said = clean_names(given)
        notes += said
    row = (*dialect.units, *[""] * dialect.n_fields)
    units = tuple((u or r) for u, r in zip(units or row, row, strict=False))[: dialect.n_fields]
    reader = _Reader(content, dialect, width, shown)
    try:
        n_rows = reader.load()
    except DataError:
        reader.close()
        if any(True for _ in reader._records()):
            raise
        n_rows = 0  # a header alone is not even opened by polars
    except BaseException:
        reader.close()
        raise
    if n_rows == 0:
        reader.close()
        raise DataError(
            f"'{shown}' has column names but no rows of data.",
            hint="Check that the file was written completely.",
        )
    return Raw(
        source=shown,
        names=names,
        units=units,
        aliases=aliases or names,
        n_rows=n_rows,
        read=reader.read,
        row_numbers=reader.line_numbers(n_rows),
        row_word="line",
        notes=tuple(notes + reader.notes),
        decimal_comma=dialect.decimal_comma,
        close=reader.close,
    )


class _Reader:
    """Columns of a text table; those that are not all numbers are read as text."""

    def __init__(self, content, dialect, width, shown):
        self.content, self.dialect, self.width, self.shown = content, dialect, width, shown
        self.folder, self.files, self.frames, self.notes = None, [], [], []
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        self.big = size > _BIG_BYTES
        self.n_lines, self.has_quotes = self._survey()

    def load(self):
        """Read all columns; return the number of rows."""
        import polars as pl

        numeric = [k for k, yes in enumerate(self.dialect.numeric) if yes]
        # Quotation marks in numbers can make the number parser of polars panic.
        if self.dialect.decimal_comma or self.has_quotes:
            numeric = []
        text = [k for k in range(self.width) if k not in set(numeric)]
        n_rows = self._add(text, pl.String) if text else None
        if numeric:
            n_rows = self._add(numeric, pl.Float64)
            frame = self.frames[-1]
            holes = frame.null_count()
            holes = (holes.collect() if isinstance(holes, pl.LazyFrame) else holes).row(0)
            again = [k for k, count in zip(numeric, holes, strict=True) if count]
            if again:
                self._add(again, pl.String)
        n_rows = self._trim(n_rows)
        self._check_lines(n_rows)
        return n_rows

    def _scan(self, dtypes):
        import polars as pl

        d = self.dialect
        schema = {f"f{k}": dtypes.get(k, pl.String) for k in range(self.width)}
        return pl.scan_csv(
            self.content,
            has_header=False,
            schema=schema,
            separator="\t" if d.separator == WHITESPACE else d.separator,
            skip_lines=d.first,
            comment_prefix=d.comment,
            ignore_errors=True,
            glob=False,
            raise_if_empty=False,
        ).select([f"f{k}" for k in dtypes])

    def _add(self, positions, dtype):
        import polars as pl

        try:
            # polars warns from threads of its own, where an error filter cannot raise.
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                scan = self._scan(dict.fromkeys(positions, dtype))
                if self.big:
                    frame = self._spill(scan)
                    n_rows = frame.select(pl.len()).collect().item()
                else:
                    frame = scan.collect()
                    n_rows = frame.height
            if warned:
                raise ValueError(str(warned[0].message))
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError) as error:
            if "utf-8" in str(error) and self._decoded():
                return self._add(positions, dtype)
            self._explain(error)
        self.frames.append(frame)
        return n_rows

    def _decoded(self):
        """Turn a file whose head alone is UTF-8 into one that is; False if it is one already."""
        data = self.content if isinstance(self.content, bytes) else self.content.read_bytes()
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            self.content = decode(data, "cp1252", self.shown).encode("utf-8")
            self.notes.append(encoding_note("cp1252"))
            return True
        return False

    def _spill(self, scan):
        import polars as pl

        if self.folder is None:
            self.folder = tempfile.mkdtemp(prefix="assay-")
        file = os.path.join(self.folder, f"{len(self.frames)}.parquet")
        scan.sink_parquet(file, compression="lz4")
        return pl.scan_parquet(file, glob=False)

    def _trim(self, n_rows):
        """Blank lines at the end are no rows."""
        import polars as pl

        tail = [f.tail(64) for f in self.frames]
        tail = [t.collect() if isinstance(t, pl.LazyFrame) else t for t in tail]
        height = min(t.height for t in tail)
        empty = np.ones(height, bool)
        for t in tail:
            empty &= t.select(pl.all_horizontal(pl.all().is_null())).to_series().to_numpy()
        blank = height if empty.all() else int(np.argmin(empty[::-1]))
        if self.width == 1 and blank:
            self.notes.append(f"{counted(blank, 'blank line')} at the end not read.")
        self.n_rows = n_rows - blank
        return self.n_rows

    def read(self, positions):
        """Return polars columns; the latest way of reading a column counts."""
        import polars as pl

        owner = {}
        for index, frame in enumerate(self.frames):
            for name in frame.collect_schema().names():
                owner[name] = index
        names = [f"f{k}" for k in positions]
        got = {}
        for index in {owner[n] for n in names}:
            wanted = [n for n in names if owner[n] == index]
            part = self.frames[index].select(wanted)
            part = part.collect() if isinstance(part, pl.LazyFrame) else part
            got.update({s.name: s.head(self.n_rows) for s in part})
        return [got[n] for n in names]

    def close(self):
        """Remove temporary files."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.folder = None

    def _body(self):
        """Yield the lines of the data as text, with their 1-based numbers."""
        source = (
            io.BytesIO(self.content)
            if isinstance(self.content, bytes)
            else (self.content.open("rb"))
        )
        with source, io.TextIOWrapper(source, "utf-8", errors="replace", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if number > self.dialect.first:
                    yield number, line.rstrip("\r\n")

    def _separator(self):
        return "\t" if self.dialect.separator == WHITESPACE else self.dialect.separator

    def _records(self):
        """First line number and fields of each record, comments left out."""
        comment = self.dialect.comment
        numbers = []

        def lines():
            for number, line in self._body():
                if comment and line.startswith(comment):
                    continue
                numbers.append(number)
                yield line + "\n"

        reader = csv.reader(lines(), delimiter=self._separator())
        done = 0
        while True:
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error:
                fields = []
            yield numbers[done], fields
            done = reader.line_num

    def _explain(self, error):
        """Say which line polars stumbled over, or what it said."""
        allowed = self.width
        for number, fields in self._records():
            if len(fields) > allowed:
                raise DataError(
                    f"'{self.shown}', line {number}: {len(fields)} fields, expected "
                    f"{self.dialect.n_fields}.",
                    hint="Correct the line: a separator too many, or text with a separator that "
                    "needs quotes.",
                ) from error
            if any("\n" in f and f.count("\n") > 20 for f in fields):
                raise self._open_quote(number) from error
        self._check_quotes(error)
        said = printable(str(error).split("\n")[0])
        raise DataError(
            f"'{self.shown}' could not be read as a table: {said}",
            hint="Open the file in a text editor and compare its lines.",
        ) from error

    def _open_quote(self, number):
        return DataError(
            f"'{self.shown}', line {number}: a quotation mark is opened and never closed.",
            hint="Close or remove the quotation mark in this line.",
        )

    def _check_quotes(self, error=None):
        for number, line in self._body():
            if line.count('"') % 2:
                raise self._open_quote(number) from error

    def _check_lines(self, n_rows):
        """Refuse rows that end early: polars fills them with nothing, without a word."""
        last = self.read([self.width - 1])[0]
        suspects = np.flatnonzero(last.is_null().to_numpy())
        if not len(suspects) or self.width == 1:
            return
        wanted = set(suspects[:100_000].tolist())
        for row, (number, fields) in enumerate(self._records()):
            if row not in wanted:
                continue
            n_fields = len(fields)
            short = n_fields < (self.width - 1 if self.dialect.trailing else self.width)
            if short and any(f.strip() for f in fields):
                cut = " (the last line: the file may be cut off)" if row == n_rows - 1 else ""
                raise DataError(
                    f"'{self.shown}', line {number}: {n_fields} fields, expected "
                    f"{self.dialect.n_fields}{cut}.",
                    hint="Complete or delete the line.",
                )

    def line_numbers(self, n_rows):
        """1-based line of each row."""
        straight = np.arange(self.dialect.first + 1, self.dialect.first + 1 + n_rows)
        if not self._odd_lines(n_rows):
            return straight
        numbers = [number for number, _ in self._records()][:n_rows]
        if len(numbers) < n_rows:
            self._check_quotes()
            self.notes.append("Rows are counted, not lines: the file has quoted line breaks.")
            return straight
        return np.array(numbers)

    def _odd_lines(self, n_rows):
        """Whether comments or quoted line breaks make lines and rows differ."""
        if self.dialect.comment is not None:
            return True
        rows = self.n_lines - self.dialect.first
        return (self.has_quotes and rows != n_rows) or rows < n_rows

    def _survey(self):
        """Count lines and look for quotation marks, once through the whole file."""
        source = self.content
        file = io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")
        lines, quotes, last = 0, False, b"\n"
        with file:
            while block := file.read(1 << 22):
                lines, last = lines + block.count(b"\n"), block[-1:]
                quotes = quotes or b'"' in block
        return lines + (last != b"\n"), quotes
