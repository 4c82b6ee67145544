"""Encoded rows in few bytes: each column as positions among its distinct values, read as an array is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

__all__ = ["Matrix", "Packed", "Repeated", "blocks_of"]

LISTED = 1 << 16  # a column with more distinct values is kept as the numbers themselves
FEW = 1 << 16  # as many rows, chosen from a packed matrix, are unpacked
BLOCK = 1 << 16  # rows unpacked at a time


class Column(NamedTuple):
    """One column: `codes` (m,) into the sorted `values`, NaN last; or the numbers themselves and no values."""

    codes: NDArray[Any]
    values: NDArray[np.float64] | None

    def of(self, rows: Any = slice(None)) -> NDArray[np.float64]:
        """The numbers of some rows."""
        codes = self.codes[rows]
        found: NDArray[np.float64] = codes.astype(np.float64) if self.values is None else self.values[codes]
        return found


class Matrix(np.lib.mixins.NDArrayOperatorsMixin):
    """Encoded rows that are not an array, shape (m, n), and are read as one.

    Whatever else NumPy is asked to do with it, it does with the whole matrix unpacked: right, if not always cheap.
    """

    shape: tuple[int, int]
    ndim = 2
    dtype = np.dtype(np.float64)

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return self.shape[0]

    @property
    def T(self) -> NDArray[np.float64]:
        """The transpose, unpacked."""
        return np.asarray(self).T

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """All rows, so many at a time."""
        for start in range(0, len(self), BLOCK):
            yield np.asarray(self[start : start + BLOCK])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        found = np.vstack([np.empty((0, self.shape[1])), *self.blocks()])
        return found if dtype is None else found.astype(dtype, copy=False)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return getattr(ufunc, method)(*map(_plain, inputs), **options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.vstack and not options:
            parts = [p if isinstance(p, Packed) else Packed.of(np.atleast_2d(np.asarray(p))) for p in args[0]]
            return Packed.joined(parts)
        return function(*map(_plain, args), **{name: _plain(value) for name, value in options.items()})


class Packed(Matrix):
    """A float64 matrix, shape (m, n), in one, two, four or eight bytes a number.

    One column, `X[:, j]`, and a slice of rows come as arrays, as do up to 65,536 rows chosen by positions or flags;
    more of them stay packed.
    """

    def __init__(self, columns: Sequence[Column], m: int) -> None:
        self.columns, self.shape = tuple(columns), (m, len(columns))

    @classmethod
    def of(cls, X: NDArray[np.float64]) -> Packed:
        """The same rows, packed.

        >>> Packed.of(np.array([[2.5, np.nan], [1.0, 7.0], [2.5, 7.0]]))[:, 0]
        array([2.5, 1. , 2.5])
        """
        return cls([_packed(X[:, j]) for j in range(X.shape[1])], len(X))

    @classmethod
    def joined(cls, parts: Sequence[Packed]) -> Packed:
        """One below the other."""
        columns = [_joined([part.columns[j] for part in parts]) for j in range(parts[0].shape[1])]
        return cls(columns, sum(map(len, parts)))

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(c.codes.nbytes + (0 if c.values is None else c.values.nbytes) for c in self.columns)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows, at = key
            if isinstance(at, int | np.integer):
                return self.columns[at].of(rows)
            chosen = [self.columns[j] for j in np.arange(self.shape[1])[list(at) if isinstance(at, tuple) else at]]
            return _stacked([column.of(rows) for column in chosen])
        if isinstance(key, int | np.integer | slice):
            return _stacked([column.of(key) for column in self.columns])
        key = np.asarray(key)
        m = int(np.count_nonzero(key)) if key.dtype == np.bool_ else len(key)
        if m <= FEW:
            return _stacked([column.of(key) for column in self.columns])
        return self.taken(key)

    def taken(self, rows: NDArray[Any]) -> Packed:
        """Rows by their positions or flags, packed."""
        rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return Packed([Column(c.codes[rows], c.values) for c in self.columns], len(rows))


class Repeated(Matrix):
    """The rows of a table, shape (m, n), each by its position among the distinct ones."""

    def __init__(self, distinct: Packed, which: NDArray[Any]) -> None:
        self.distinct, self.which, self.shape = distinct, which, (len(which), distinct.shape[1])

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self.distinct[(self.which[key[0]], *key[1:])]
        return self.distinct[self.which[key]]


def blocks_of(X: Any) -> Iterator[NDArray[np.float64]]:
    """The rows of a matrix, packed or not, a block at a time; an array is one block."""
    if isinstance(X, Matrix):
        yield from X.blocks()
    else:
        yield X


def _plain(value: Any) -> Any:
    """What NumPy is given: arrays, in lists and tuples too."""
    if isinstance(value, Matrix):
        return np.asarray(value)
    return type(value)(map(_plain, value)) if type(value) in (list, tuple) else value


def _stacked(columns: list[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.stack(columns, axis=-1) if columns else np.empty((0, 0))


def _packed(numbers: NDArray[np.float64]) -> Column:
    import pandas as pd

    codes, found = pd.factorize(numbers, use_na_sentinel=False)
    if len(found) > LISTED:
        return _raw(numbers)
    values, place = np.unique(np.asarray(found, dtype=np.float64), return_inverse=True)
    return Column(place.astype(_smallest(len(values)))[codes], values)


def _joined(parts: list[Column]) -> Column:
    tables = [part.values for part in parts if part.values is not None]
    values = np.unique(np.concatenate(tables)) if tables else np.empty(0)
    if len(tables) < len(parts) or len(values) > LISTED:
        return _raw(np.concatenate([part.of() for part in parts]))
    places = (np.searchsorted(values, table).astype(_smallest(len(values))) for table in tables)
    return Column(np.concatenate([place[part.codes] for place, part in zip(places, parts, strict=True)]), values)


def _raw(numbers: NDArray[np.float64]) -> Column:
    """The numbers themselves, in four bytes where nothing is lost."""
    with np.errstate(over="ignore"):
        narrow = numbers.astype(np.float32)
    same = np.array_equal(narrow, numbers, equal_nan=True)
    return Column(narrow if same else np.array(numbers, dtype=np.float64), None)


def _smallest(k: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if k <= 1 << 8 else np.uint16
