"""Data frames in and out: the only room that knows pandas, polars and NumPy tables.

A table is read as one series a column; a column becomes numbers (float64, missing is NaN) or positions among labels.
Written back, it has the names, order and types it came with.
"""

from dueto.frames.read import (
    LARGEST,
    LARGEST_INTEGER,
    Flavour,
    Table,
    is_frame,
    kind_of,
    labels_of,
    one_row,
    outline,
    plain,
    read,
    says_nan,
    select,
    to_codes,
    to_numbers,
)
from dueto.frames.write import dtype_from_json, dtype_to_json, numbers, pick, pickings, to_numpy, write

__all__ = [
    "LARGEST",
    "LARGEST_INTEGER",
    "Flavour",
    "Table",
    "dtype_from_json",
    "dtype_to_json",
    "is_frame",
    "kind_of",
    "labels_of",
    "numbers",
    "one_row",
    "outline",
    "pick",
    "pickings",
    "plain",
    "read",
    "says_nan",
    "select",
    "to_codes",
    "to_numbers",
    "to_numpy",
    "write",
]
