"""The feature space: every applicant that could be, and how a table becomes numbers and back.

Inside the library an instance is one row of float64 with *one column a feature*: a number as it is, a category as its
position among the feature's labels, a whole one-hot group as one position, a missing value as NaN.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto import frames
from dueto.condense import condensed
from dueto.domain import Domain, distinct_rows
from dueto.errors import InputError, known, some
from dueto.feature import Feature, Group, declared, encode_feature, onehot_feature, plain_feature, plain_name
from dueto.onehot import as_groups
from dueto.sources import Source, as_source

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

__all__ = ["FeatureSpace", "read_declarations"]


@dataclass(frozen=True, eq=False)
class FeatureSpace:
    """All features of a table, and every instance that could be: the product of their domains.

    Build one with `infer` from data, widen it with `declare`, or `load` declarations from a TOML or JSON file.

    Examples
    --------
    >>> import pandas as pd
    >>> from dueto import FeatureSpace
    >>> frame = pd.DataFrame({"age": [25, 40, 61], "job": ["clerk", "smith", "clerk"]})
    >>> space = FeatureSpace.infer(frame)
    >>> space.encode(frame)
    array([[25.,  0.],
           [40.,  1.],
           [61.,  0.]])
    >>> space.decode(space.encode(frame)).equals(frame)
    True
    >>> space.declare({"age": {"low": 18, "high": 99}}).size
    164.0
    """

    features: tuple[Feature, ...]
    columns: tuple[Hashable, ...]
    dtypes: tuple[Any, ...]
    flavour: frames.Flavour = "pandas"
    groups: tuple[Group, ...] = ()

    # -- building -----------------------------------------------------------------------------------------------------

    @classmethod
    def infer(
        cls,
        frame: Any,
        *,
        onehot: Any = None,
        ordinal: Mapping[Any, Sequence[Any]] | None = None,
        category: Iterable[Hashable] = (),
        groups: Iterable[Iterable[Hashable]] = (),
    ) -> FeatureSpace:
        """The space of a table, each feature with the values that occur in it (its active domain).

        Parameters
        ----------
        frame : pandas or polars frame, array of shape (m, p), or Source
            Features only, without the target.
        onehot : mapping or fitted transformer, optional
            `{name: [columns]}`, or the fitted OneHotEncoder, ColumnTransformer or Pipeline that made the columns.
        ordinal : mapping, optional
            `{column: [labels from lowest to highest]}` for categories that have an order.
        category : iterable of columns, optional
            Columns of numbers that are only names (a postcode): unordered.
        groups : iterable of iterables of features, optional
            Correlated features that change together, to tuples that occur in the table.

        Raises
        ------
        InputError
            If the table is empty, has twin columns, infinities, dates, or a column of mixed kinds.
        """
        frame = as_source(frame)
        table = frames.outline(frame)
        bundles = as_groups(onehot, tuple(table.columns))
        owner = {column: name for name, bundle in bundles.items() for column in bundle.columns}
        ranks = {column: _order(column, labels) for column, labels in (ordinal or {}).items()}
        names_only = set(_names("category", category))
        for asked in (*ranks, *names_only):
            if asked not in table.columns:
                raise InputError(f"there is no column {asked!r}; {known(asked, table.columns, 'the columns are')}")
            if asked in owner:
                raise InputError(f"column {asked!r} belongs to the one-hot group {owner[asked]!r}; leave it out here")
        if isinstance(frame, Source):
            table = condensed(frame, bundles)
        features: list[Feature] = []
        done: set[str] = set()
        for column in table.columns:
            name = owner.get(column)
            if name is None:
                features.append(plain_feature(table, column, ranks.get(column), column in names_only))
            elif name not in done:
                done.add(name)
                features.append(onehot_feature(table, name, bundles[name]))
        _refuse_twins(features)
        space = cls(tuple(features), tuple(table.columns), tuple(table.dtypes.values()), table.flavour)
        wanted = [[str(member) for member in _names("a group", group)] for group in _names("groups", groups)]
        if not wanted:
            return space
        if isinstance(frame, Source):
            rows, counts = _combined(space, frame, wanted)
            return space.grouped(rows, wanted, counts)
        return space.grouped(space._encode(table), wanted)

    def declare(self, declarations: Mapping[str, Mapping[str, Any]]) -> FeatureSpace:
        """Widen or narrow domains: `{feature: {"low": 18, "high": 99}}`, `{"values": [...]}`, `{"missing": True}`.

        `low` and `high` mean every whole number between them for an integer feature, every real number for a float;
        `values` lists the domain exactly (categories new to the data may be named). `kind` may turn integer into float.
        """
        features = list(self.features)
        for name, words in declarations.items():
            j = self.index(name)
            features[j] = declared(features[j], words)
        return replace(self, features=tuple(features))

    @classmethod
    def load(cls, path: str | Path, frame: Any, *, ignore: Iterable[str] = ()) -> FeatureSpace:
        """The space of a table under the declarations of a TOML or JSON file.

        A file has one table a feature, `[features.age]`, with any of `kind`, `low`, `high`, `values`, `missing` and,
        for a one-hot group, `columns`; and `groups = [["a", "b"]]`. Features not named are inferred; what it says of
        columns to `ignore`, which another model may need, is passed over.
        """
        path, passed = Path(path), set(ignore)
        declared = read_declarations(path)
        features = {str(name): dict(words) for name, words in declared.get("features", {}).items()}
        features = {n: w for n, w in features.items() if not passed.issuperset(map(str, w.get("columns", [n])))}
        groups = [group for group in declared.get("groups", ()) if not passed.intersection(group)]
        frame = as_source(frame)
        table = frames.outline(frame)
        columns = {plain_name(table, column): column for column in table.columns}

        def raw(name: str) -> Hashable:
            if name not in columns:
                hint = known(name, columns, "it has")
                raise InputError(f"{path.name} declares {name!r}, but the data has no such column; {hint}")
            return columns[name]

        onehot = {
            n: [raw(str(c)) for c in _names(f"the columns of {n!r}", w.pop("columns"))]
            for n, w in features.items()
            if "columns" in w
        }
        ordinal = {raw(n): w["values"] for n, w in features.items() if w.get("kind") == "ordinal" and "values" in w}
        names_only = [raw(n) for n, w in features.items() if w.get("kind") == "category" and n not in onehot]
        space = cls.infer(frame, onehot=onehot, ordinal=ordinal, category=names_only, groups=groups)
        return space.declare(features)

    def grouped(
        self, X: NDArray[np.float64], names: Iterable[Iterable[str]], counts: NDArray[np.int_] | None = None
    ) -> FeatureSpace:
        """The same space with these features tied to the tuples that occur in the encoded rows `X`.

        Groups that share a feature, with each other or with those already there, are joined into one; others that are
        there already stay as they are. `counts` says how many rows of the data each row stands for, 1 if not given.
        """
        there = {g.members: g for g in self.groups}
        wanted = [set(members) for members in there]
        for group in names:
            members = {self.index(n) for n in group}
            for other in [w for w in wanted if w & members]:
                members |= other
                wanted.remove(other)
            wanted.append(members)
        groups = (tuple(sorted(w)) for w in wanted if len(w) > 1)
        return replace(self, groups=tuple(there.get(w) or _group(X, w, counts) for w in groups))

    # -- looking ------------------------------------------------------------------------------------------------------

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The features' names, in their order."""
        return tuple(f.name for f in self.features)

    @property
    def size(self) -> float:
        """How many instances there are; infinite when a feature is declared over a range of real numbers."""
        tied = {j for group in self.groups for j in group.members}
        sizes: list[float] = [f.domain.size for j, f in enumerate(self.features) if j not in tied]
        for group in self.groups:
            inside = (self.features[j].domain.contains(group.tuples[:, i]) for i, j in enumerate(group.members))
            sizes.append(np.all(list(inside), axis=0).sum())
        with np.errstate(over="ignore"):
            return float(np.prod(sizes))

    @cached_property
    def ranges(self) -> NDArray[np.float64]:
        """(n,) unit of distance along each feature; 1 for an unordered one."""
        return np.array([f.domain.range if f.ordered else 1.0 for f in self.features])

    @cached_property
    def ordered(self) -> NDArray[np.bool_]:
        """(n,) whether each feature is ordered."""
        return np.array([f.ordered for f in self.features], dtype=np.bool_)

    def __len__(self) -> int:
        return len(self.features)

    def __getitem__(self, name: str) -> Feature:
        return self.features[self.index(name)]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: j for j, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Position of a feature; an unknown name is refused with the nearest known ones."""
        try:
            return self._places[str(name)]
        except KeyError:
            hint = known(name, self.names, "the features are")
            raise InputError(f"there is no feature {name!r}; {hint}") from None

    def contains(self, X: NDArray[np.float64]) -> NDArray[np.bool_]:
        """(N,) whether each encoded row is an instance: every value in its domain, every group's tuple in the data."""
        inside = np.ones(len(X), dtype=bool)
        for j, feature in enumerate(self.features):
            inside &= feature.domain.contains(X[:, j])
        for group in self.groups:
            inside &= group.contains(X)
        return inside

    # -- encoding -----------------------------------------------------------------------------------------------------

    def encode(self, frame: Any) -> NDArray[np.float64]:
        """A table as encoded rows, shape (m, n), its columns in any order; columns that are not features are ignored.

        Raises
        ------
        InputError
            For an absent column, a category without a code, an infinite number: naming column and row.
        """
        return self._encode(frames.read(frame))

    def encode_from(self, frame: Any, start: int) -> NDArray[np.float64]:
        """The same of a part of a table, with `start` rows before it."""
        return self._encode(frames.read(frame, start))

    def encode_row(self, row: Any) -> NDArray[np.float64]:
        """One applicant, shape (n,), from a mapping, a Series, a sequence in column order, or a frame of one row."""
        if frames.is_frame(row) or (isinstance(row, np.ndarray) and row.ndim == 2):
            X: NDArray[np.float64] = self.encode(row)
            if len(X) != 1:
                raise InputError(f"expected one row, got {len(X)}; choose one by its number")
        else:
            X = self._encode(frames.one_row(row, self.columns))
        return np.asarray(X[0])

    def _encode(self, table: frames.Table) -> NDArray[np.float64]:
        if table.flavour == "numpy" and len(table.columns) != len(self.columns):
            raise InputError(f"the array has {len(table.columns)} columns but the space has {len(self.columns)}")
        X = np.empty((table.n_rows, len(self)))
        if table.flavour == "numpy":
            table = replace(table, columns=dict(zip(self.columns, table.columns.values(), strict=True)))
        for j, feature in enumerate(self.features):
            for column in feature.columns:
                if column not in table.columns:
                    raise InputError(f"the data has no column {column!r}; {known(column, table.columns, 'it has')}")
            X[:, j] = encode_feature(feature, table)
        return X

    def decode(self, X: ArrayLike) -> Any:
        """Encoded rows as a table of the kind that the space was inferred from: same columns, order and types."""
        X = np.atleast_2d(np.asarray(X, dtype=np.float64))
        if X.ndim != 2 or X.shape[1] != len(self):
            raise InputError(f"expected encoded rows of shape (N, {len(self)}), got shape {X.shape}")
        if self.flavour == "numpy" and not any(f.labels for f in self.features) and self.dtypes[0].kind != "O":
            return frames.to_numpy(X.copy(), self.dtypes[0])
        raw: dict[Hashable, Any] = {}
        dtypes = dict(zip(self.columns, self.dtypes, strict=True))
        for j, feature in enumerate(self.features):
            if not feature.labels:
                column = feature.columns[0]
                raw[column] = frames.numbers(self.flavour, X[:, j], dtypes[column], nan=feature.nan)
                continue
            codes = np.where(np.isnan(X[:, j]), len(feature.labels), X[:, j]).astype(np.intp)
            for column in feature.columns:
                raw[column] = frames.pick(self._pickings[column], codes)
        return frames.write(self.flavour, {c: raw[c] for c in self.columns}, dtypes)

    @cached_property
    def _pickings(self) -> dict[Hashable, Any]:
        """For each column of a labelled feature, what it holds for each code, and last what it holds if missing."""
        dtypes = dict(zip(self.columns, self.dtypes, strict=True))
        found: dict[Hashable, Any] = {}
        for feature in self.features:
            if feature.tuples is not None:
                values = np.vstack([feature.tuples, np.full(len(feature.columns), np.nan)])
                found |= zip(feature.columns, values.T, strict=True)
            elif feature.labels:
                column = feature.columns[0]
                found[column] = frames.pickings(self.flavour, feature.labels, dtypes[column], nan=feature.nan)
        return found

    # -- saving -------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """The whole space as plain data (JSON), domains with their counts included."""
        return {
            "flavour": self.flavour,
            "columns": list(self.columns),
            "dtypes": [frames.dtype_to_json(d) for d in self.dtypes],
            "features": [
                {
                    "name": f.name,
                    "kind": f.kind,
                    "columns": list(f.columns),
                    "labels": list(f.labels),
                    "tuples": None if f.tuples is None else _nones(f.tuples),
                    "nan": f.nan,
                    "domain": f.domain.to_dict(),
                }
                for f in self.features
            ],
            "groups": [
                {"members": list(g.members), "tuples": _nones(g.tuples), "counts": g.counts.tolist()}
                for g in self.groups
            ],
        }

    @classmethod
    def from_dict(cls, saved: Mapping[str, Any]) -> FeatureSpace:
        """The space that `to_dict` wrote."""
        return cls(
            tuple(
                Feature(
                    f["name"],
                    f["kind"],
                    _columns(f["columns"]),
                    Domain.from_dict(f["domain"]),
                    tuple(f["labels"]),
                    None if f["tuples"] is None else np.asarray(f["tuples"], dtype=np.float64),
                    f["nan"],
                )
                for f in saved["features"]
            ),
            _columns(saved["columns"]),
            tuple(frames.dtype_from_json(saved["flavour"], d) for d in saved["dtypes"]),
            saved["flavour"],
            tuple(
                Group(tuple(g["members"]), np.asarray(g["tuples"], dtype=np.float64), np.asarray(g["counts"]))
                for g in saved["groups"]
            ),
        )


def _group(X: NDArray[np.float64], members: tuple[int, ...], counts: NDArray[np.int_] | None) -> Group:
    rows = X[:, members]
    first, which, _ = distinct_rows(rows)
    return Group(members, rows[first], np.bincount(which, weights=counts).astype(np.float64))


def _combined(
    space: FeatureSpace, source: Source, groups: Sequence[Sequence[str]]
) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """The distinct combinations of the features of some groups in a source, all others missing, with their counts."""
    members = sorted({space.index(name) for group in groups for name in group})
    X, counts, m = np.empty((0, len(space))), np.empty(0, dtype=np.int_), 0
    for frame in source.batches():
        part = np.full((len(frame), len(space)), np.nan)
        part[:, members] = space.encode_from(frame, m)[:, members]
        m += len(frame)
        X, counts = np.vstack([X, part]), np.append(counts, np.ones(len(part), dtype=np.int_))
        first, which, _ = distinct_rows(X)
        X, counts = X[first], np.bincount(which, weights=counts).astype(np.int_)
    return X, counts


def _names(what: str, given: Any) -> list[Any]:
    """Several names; a text alone, which would be read letter by letter, is refused."""
    if isinstance(given, str) or not np.iterable(given):
        raise InputError(f"{what} must be a list of names, got {given!r}")
    return list(given)


def _order(column: Hashable, labels: Any) -> list[Any]:
    ranks = [frames.plain(label) for label in _names(f"the order of {column!r}", labels)]
    if len(set(ranks)) < len(ranks):
        raise InputError(f"the order of {column!r} names a label twice: {some(ranks)}")
    return ranks


def _nones(tuples: NDArray[np.float64]) -> list[list[float | None]]:
    """Rows of numbers as JSON can hold them: missing ones are None."""
    return [[None if np.isnan(v) else v for v in row] for row in tuples.tolist()]


def _columns(saved: Iterable[Any]) -> tuple[Hashable, ...]:
    """Column names as JSON gives them back: a name of several levels is a list there."""
    return tuple(tuple(name) if isinstance(name, list) else name for name in saved)


def _refuse_twins(features: Sequence[Feature]) -> None:
    seen: set[str] = set()
    for feature in features:
        if feature.name in seen:
            raise InputError(f"two features would be named {feature.name!r}; rename a column or a one-hot group")
        seen.add(feature.name)


def read_declarations(path: Path) -> dict[str, Any]:
    """What a TOML or JSON file holds."""
    import tomllib

    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as problem:
        raise InputError(f"cannot read {path}: {problem.strerror or problem}") from None
    except ValueError as problem:
        raise InputError(f"{path} is not valid {'JSON' if path.suffix == '.json' else 'TOML'}: {problem}") from None
    if (
        not isinstance(found, dict)
        or not set(found) <= {"features", "groups"}
        or not isinstance(found.get("features", {}), dict)
    ):
        raise InputError(f"{path} must hold a table 'features' and, if wanted, a list 'groups', and nothing else")
    groups = found.get("groups", [])
    if not isinstance(groups, list) or not all(isinstance(group, list) for group in groups):
        raise InputError(f'{path}: groups must be a list of lists of features, such as [["height", "weight"]]')
    for name, words in found.get("features", {}).items():
        if not isinstance(words, dict):
            raise InputError(f"{path}: feature {name!r} must be a table, such as {{low = 18, high = 99}}")
    return found
