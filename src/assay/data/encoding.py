"""The bytes of a text file as UTF-8: compression, byte-order marks, Latin-1, line ends."""

import bz2
import codecs
import gzip
import lzma
import re
import zlib

from assay.data.sniff import HEAD_BYTES
from assay.errors import DataError

_PACKED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ", lzma.open))
_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_content(path, shown):
    """Return the path itself if polars can read it as it is, else the text as UTF-8 bytes."""
    head, notes = head_of(path), []
    unpack = next((f for magic, f in _PACKED if head.startswith(magic)), None)
    data = None
    if unpack is not None:
        try:
            with unpack(path) as file:
                data = file.read()
        except (EOFError, OSError, lzma.LZMAError, zlib.error) as error:
            raise DataError(
                f"'{shown}' is a damaged compressed file: {error}.",
                hint="Copy it again, or unpack it and look at what is there.",
            ) from error
        head = data[:HEAD_BYTES]
    encoding = _encoding(head, shown)
    has_cr = b"\r" in head and b"\n" not in head
    if encoding == "utf-8" and not has_cr and (data is not None or named_in_unicode(path)):
        return (path if data is None else data), notes
    data = path.read_bytes() if data is None else data
    if encoding != "utf-8":
        data = decode(data, encoding, shown).encode("utf-8")
        notes.append(encoding_note(encoding))
    if has_cr:
        data = data.replace(b"\r", b"\n")
    return data, notes


def named_in_unicode(path):
    """Whether polars can open the path: a name that is no UTF-8 has no form that it takes."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def head_of(path):
    """Return the first bytes of a file."""
    with path.open("rb") as file:
        return file.read(HEAD_BYTES)


def _encoding(head, shown):
    for bom, name in _BOMS:
        if head.startswith(bom):
            return name
    zeros = head.count(0)
    if zeros:
        odd, even = head[1::2].count(0), head[::2].count(0)
        if max(odd, even) > 0.4 * len(head) / 2 and min(odd, even) < 0.05 * len(head):
            return "utf-16-le" if odd > even else "utf-16-be"
        raise DataError(
            f"'{shown}' is not a text table: it has zero bytes.",
            hint="Pass CSV, Parquet, NPZ, NPY or HDF5; export other formats to CSV first.",
        )
    control = sum(head.count(c) for c in range(32) if c not in (9, 10, 12, 13, 26, 27))
    if control > 0.02 * len(head):
        raise DataError(
            f"'{shown}' is not a text table: it has control characters.",
            hint="Pass CSV, Parquet, NPZ, NPY or HDF5; export other formats to CSV first.",
        )
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head, final=False)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def decode(data, encoding, shown):
    """Return bytes as text, or say where they are damaged."""
    if encoding == "cp1252":
        try:
            return data.decode("cp1252")
        except UnicodeDecodeError:
            return data.decode("latin-1")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise DataError(
            f"'{shown}' is damaged {encoding} text at byte {error.start}.",
            hint="Save the file as UTF-8.",
        ) from error


def encoding_note(encoding):
    """Tell which encoding was used."""
    return f"Text read as {encoding.replace('cp1252', 'Latin-1 (Windows-1252)')}."


def tabbed(data):
    """Make one tab of each run of blanks, so that polars can read the table."""
    data = re.sub(rb"[ \t\x0b\x0c]+", b"\t", data)
    return re.sub(rb"\t?\r?\n\t?", b"\n", data).lstrip(b"\t")
