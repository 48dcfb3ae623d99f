"""Labels in the ways people write them: what is normal, and what kind of anomaly it is."""

import numpy as np

from assay.data.chars import listed, printable
from assay.errors import DataError

NORMAL_WORDS = frozenset(
    "0 normal norm ok okay healthy good nominal none no false n f neg negative inlier pass passed "
    "regular benign baseline clean fine nofault no_fault no-fault fault-free faultfree fault_free "
    "no_failure nofailure undamaged intact usual nonanomalous".split()
) | {"no fault", "fault free", "no anomaly", "not anomalous", "no failure", "no defect"}
FAULT_WORDS = frozenset(
    "1 fault faulty anomaly anomalous anomalies abnormal bad yes true y t pos positive outlier "
    "fail failed failure alarm attack defect defective broken damaged error unhealthy ko nok "
    "leak".split()
)


def read_labels(values, *, where: str):
    """Turn numbers or words into labels.

    Parameters
    ----------
    values : numpy.ndarray of shape (n,)
        Booleans, numbers, or text; NaN, None and words for missing are missing.
    where : str
        For messages: the file and the column.

    Returns
    -------
    labels, missing : numpy.ndarray of shape (n,), bool
    kinds : numpy.ndarray of str, or None
        Where there are more than two values: the value of each anomalous row, else ``""``.
    note : str
        Which value was taken as normal.

    Raises
    ------
    DataError
        If no value can be recognised as the normal one.
    """
    words, missing = _words(values)
    kept = words[~missing]
    found = np.unique(kept)
    if not len(found):
        raise DataError(f"{where}: the label column is empty.", hint="Name another column.")
    if len(found) > 1000 or (len(found) > 50 and len(found) > 0.2 * len(kept)):
        raise DataError(
            f"{where}: {len(found):,} different values are too many for labels, "
            f"such as {listed(found[:3])}.",
            hint="Name a column with 0 for normal and 1 for anomalous rows.",
        )
    normal = [w for w in found if w.casefold() in NORMAL_WORDS]
    # Among numbers only 0 says what is normal: 1 and 2 may be codes of anything.
    numeric = len(found) > 1 and all(_is_number(w) for w in found)
    faults = [] if numeric else [w for w in found if w.casefold() in FAULT_WORDS]
    if normal:
        labels = ~np.isin(words, normal)
    elif len(faults) == len(found) or (len(faults) == 1 and len(found) == 2):
        labels = np.isin(words, faults)
        normal = [w for w in found if w not in faults]
    else:
        hint = "Write 0 or 'normal' for normal rows, and 1 or the kind of fault for the others."
        if set(found) == {"-1", "1"}:
            hint = "-1 means anomaly to some tools and normal to others: write 0 and 1 instead."
        raise DataError(
            f"{where}: no label can be recognised as normal among {listed(found)}.", hint=hint
        )
    labels &= ~missing
    note = ""
    if set(found) - {"0", "1"}:
        shown = listed(normal) if normal else "nothing"
        note = f"{where}: {shown} taken as normal, {int(labels.sum()):,} rows as anomalous."
    kinds = np.where(labels, words, "") if len(found) - len(normal) > 1 else None
    return labels, missing, kinds, note


def _words(values):
    """Every value as text, numbers in their shortest form ("1.0" and 1 are "1")."""
    from assay.data.chars import MISSING_WORDS

    values = np.asarray(values)
    if values.dtype.kind in "biuf":
        numbers = values.astype(np.float64)
        unique, back = np.unique(numbers, return_inverse=True)
        return np.array([_short(v) for v in unique], dtype=str)[back], np.isnan(numbers)
    shown = np.array(["" if _absent(v) else str(v) for v in values.tolist()], dtype=str)
    unique, back = np.unique(shown, return_inverse=True)
    # "none" and "-" are words for "no fault" here, so only what is certainly missing counts.
    absent = MISSING_WORDS - {"none", "nil", "-", "--", "bad", "invalid", "0"}
    missing = np.array([w.strip().casefold() in absent for w in unique], dtype=bool)
    return np.array([_short(w) for w in unique], dtype=str)[back], missing[back]


def _absent(value):
    return value is None or (isinstance(value, float) and value != value)


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


def _short(value):
    try:
        number = float(value)
    except ValueError:
        return printable(value)
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:g}"
