"""Public names that are imported when they are first used, for all packages alike (PEP 562)."""

import importlib
import sys
from collections.abc import Callable
from typing import Any


def lazy_names(
    package: str, table: dict[str, str], *also: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    table : dict of str to str
        Where each public name is: a module below the package, or a whole one (``"assay.data"``);
        ``"module:Name"`` where it has another name there.
    *also : str
        Further names for ``dir``, which the package has without this table.

    Examples
    --------
    >>> get, _, names = lazy_names("assay", {"DataError": "assay.errors"})
    >>> names, get("DataError").__name__
    (['DataError'], 'DataError')
    """

    def __getattr__(name: str) -> Any:
        if name not in table:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, _, own = table[name].partition(":")
        whole = module if module.startswith("assay.") else f"{package}.{module}"
        value = getattr(importlib.import_module(whole), own or name)
        setattr(sys.modules[package], name, value)  # later look-ups are free
        return value

    names = sorted(table)
    return __getattr__, lambda: [*names, *also], names
