"""Reading tables and arrays, scaling, windows: everything between a user's file and a matrix."""

from typing import TYPE_CHECKING

from assay.lazy import lazy_names as _lazy_names

if TYPE_CHECKING:
    from .boundary import as_labels as as_labels
    from .boundary import as_matrix as as_matrix
    from .boundary import as_vector as as_vector
    from .boundary import check_same_rows as check_same_rows
    from .chunks import map_rows as map_rows
    from .describe import profile as profile
    from .reading import read_table as read_table
    from .scaling import Scaler as Scaler
    from .series import Windows as Windows
    from .series import windows as windows
    from .several import in_order as in_order
    from .several import require_somewhere as require_somewhere
    from .table import Table as Table
    from .table import concat as concat

# A public name must not equal a file's name: the module would shadow it once imported.
_LAZY = {
    "Scaler": "scaling",
    "Table": "table",
    "Windows": "series",
    "as_labels": "boundary",
    "as_matrix": "boundary",
    "as_vector": "boundary",
    "check_same_rows": "boundary",
    "concat": "table",
    "map_rows": "chunks",
    "in_order": "several",
    "profile": "describe",
    "read_table": "reading",
    "require_somewhere": "several",
    "windows": "series",
}
__getattr__, __dir__, __all__ = _lazy_names(__name__, _LAZY)
