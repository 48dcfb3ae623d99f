"""The sealed test part: it can be opened once, and the opening is on the ledger."""

from typing import Any

from assay.errors import StudyError
from assay.fingerprint import name_of, row_hashes, sketch_of
from assay.ledger import Ledger


class SealedTest:
    """Holds the test part out of reach until it is opened.

    This guards against slips, not against intent: printing, comparing, copying, pickling or
    looking through the attributes shows nothing of the payload, and scaling or thresholds cannot
    see it by mistake. Whoever digs into closures can get at it, and knows that they did.

    Parameters
    ----------
    payload : object
        What `open` hands over: rows, labels, times.
    rows_hash : str
        Name of the rows (`assay.splits.hash_rows`).
    n_rows : int
    sketch : tuple of int, optional
        Lets the ledger recognise test parts that overlap with this one.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "ledger.jsonl")
    >>> test = SealedTest.of([[1.0], [2.0]], payload="the test part")
    >>> test
    <SealedTest of 2 rows, sealed>
    >>> test.open(ledger, study="a1")
    'the test part'
    """

    __slots__ = ("__take", "n_rows", "opening", "rows_hash", "sketch")

    def __init__(self, payload: Any, *, rows_hash: str, n_rows: int, sketch: tuple[int, ...] = ()):
        held = [payload]
        self.__take = lambda: held.pop()  # no reference to the payload survives the opening
        self.rows_hash = rows_hash
        self.n_rows = int(n_rows)
        self.sketch = tuple(sketch)
        self.opening = None

    @classmethod
    def of(cls, X, payload: Any = None) -> "SealedTest":
        """Seal the rows `X`, or a `payload` that belongs to them.

        Parameters
        ----------
        X : array of shape (n, d)
        payload : object, optional
            `X` itself by default.

        Returns
        -------
        SealedTest
        """
        hashes = row_hashes(X)
        n_columns = len(X[0]) if len(hashes) else 0
        return cls(
            X if payload is None else payload,
            rows_hash=name_of(hashes, n_columns),
            n_rows=len(hashes),
            sketch=sketch_of(hashes),
        )

    def open(self, ledger: Ledger, *, study: str, need: str = "") -> Any:
        """Record the opening, then hand over the payload, once.

        Parameters
        ----------
        ledger : Ledger
        study : str
            Identity of the study (`assay.ledger.study_identity`).
        need : str
            The need that is studied.

        Returns
        -------
        object
            The payload; `opening` then holds the ledger's id, for the verdict.

        Raises
        ------
        StudyError
            At the second call, or where the ledger cannot be written (it then stays sealed).
        """
        if self.opening is not None:
            raise StudyError(
                f"The test part ({self.n_rows} rows) has been opened already, and opens only once.",
                hint="Keep what `open` returned, or run the whole study again.",
            )
        self.opening = ledger.record(
            study=study,
            need=need,
            rows_hash=self.rows_hash,
            n_rows=self.n_rows,
            sketch=self.sketch,
        )
        return self.__take()

    @property
    def is_open(self) -> bool:
        """Whether it has been opened."""
        return self.opening is not None

    def __repr__(self):
        return f"<SealedTest of {self.n_rows} rows, {'opened' if self.is_open else 'sealed'}>"

    def __eq__(self, other):
        if not isinstance(other, SealedTest):
            return NotImplemented
        return self.rows_hash == other.rows_hash and self.n_rows == other.n_rows

    def __hash__(self):
        return hash((self.rows_hash, self.n_rows))

    def __reduce_ex__(self, protocol):
        raise StudyError(
            "A sealed test part cannot be copied or pickled: the copy could be opened again.",
            hint="Hand over the one object, or read the data again where they are needed.",
        )
