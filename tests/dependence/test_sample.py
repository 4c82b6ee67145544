"""Bad samples and options, one table: each is refused with one sentence; and what counts as numbers all the same."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from dueto.dependence import HSIC, LSMI, MEASURES, SMI, Measure, measure_named, paired
from dueto.dependence.sample import as_columns
from dueto.errors import InputError

GOOD = np.random.default_rng(0).normal(size=30)
HOLES = np.where(np.arange(30) == 4, np.nan, GOOD)
DAYS = [datetime.date(2020, 1, 1 + day) for day in range(30)]

BAD: dict[str, tuple[Any, str]] = {
    "another length": (GOOD[:29], "x has 29 values and y 30"),
    "nothing": ([], "x has 0 values and y 30"),
    "no column": (np.empty((30, 0)), r"shape \(30, 0\)"),
    "three dimensions": (np.zeros((30, 2, 2)), r"shape \(30, 2, 2\)"),
    "a number": (3.0, r"x must be a column of numbers.*shape \(\)"),
    "None": (None, r"shape \(\)"),
    "a mapping": ({"a": GOOD}, r"shape \(\)"),
    "rows of several lengths": ([[1.0, 2.0], [3.0]] * 15, "rows of x do not make a table"),
    "constant": (np.full(30, 0.1), "x is constant"),
    "constant in one of its columns": (np.column_stack([GOOD, np.ones(30)]), "x is constant"),
    "NaN": (HOLES, "x is missing or infinite in 1 of 30 rows, first in row 4.*missing='drop'"),
    "infinite": (np.where(np.arange(30) < 2, np.inf, GOOD), "x is missing or infinite in 2 of 30 rows, first in row 0"),
    "None in it": ([*GOOD[:29], None], "first in row 29"),
    "NA in it": (pd.Series([pd.NA, *range(29)], dtype="Int64"), "first in row 0"),
    "NA among objects": ([pd.NA, *GOOD[1:]], "first in row 0"),
    "null of polars": (pl.Series([None, *range(29)]), "first in row 0"),
    "masked": (np.ma.array(GOOD, mask=np.arange(30) == 7), "in 1 of 30 rows, first in row 7"),
    "too large for a float": ([10**400, *range(29)], "first in row 0"),
    "text": (["a"] * 30, "x is not numeric.*'a'.*encode"),
    "numbers as text": ([str(v) for v in GOOD], "x is not numeric"),
    "text among objects": (pd.Series([*GOOD[:29], "b"], dtype=object), "x is not numeric"),
    "bytes": (np.array([b"1"] * 30, dtype=object), "x is not numeric"),
    "labels": (pd.Series(list("abc") * 10, dtype="category"), "x is not numeric.*'a'"),
    "dates": (pd.Series(pd.date_range("2020", periods=30)), "x is not numeric.*2020"),
    "days": (DAYS, "x is not numeric.*2020-01-01"),
    "durations": (pd.Series(pd.to_timedelta(np.arange(30), unit="D")), "x is not numeric"),
    "complex": (GOOD + 1j, "x is not numeric"),
}


@pytest.mark.parametrize(("x", "said"), BAD.values(), ids=BAD)
def test_bad_samples_are_refused_in_one_sentence(x: Any, said: str):
    with pytest.raises(InputError, match=said) as refused:
        paired(x, GOOD)
    assert "\n" not in str(refused.value)
    if "values and y" not in said:
        with pytest.raises(InputError, match="price"):
            paired(GOOD, x, names=("x", "price"))


def test_too_few_points_are_refused_and_20_are_enough():
    with pytest.raises(InputError, match="19 pairs of a and b are too few; at least 20"):
        paired(GOOD[:19], GOOD[:19], names=("a", "b"))
    assert len(paired(GOOD[:20], GOOD[:20])[0]) == 20


def test_pairs_where_either_is_missing_are_dropped_if_so_asked():
    y = np.where(np.arange(30) == 9, -np.inf, GOOD)
    found = paired(HOLES, y, missing="drop")
    kept = [i for i in range(30) if i not in (4, 9)]
    np.testing.assert_array_equal(np.hstack(found), np.column_stack([GOOD[kept], GOOD[kept]]))
    with pytest.raises(InputError, match="19 pairs"):
        paired(HOLES[:20], GOOD[:20], missing="drop")
    with pytest.raises(InputError, match="x is constant"):
        paired(np.where(np.arange(30) < 25, 1.0, np.nan), GOOD, missing="drop")
    with pytest.raises(InputError, match="missing must be"):
        paired(GOOD, GOOD, missing="ignore")


NUMBERS: dict[str, Any] = {
    "a list": [3, 1, 2],
    "a tuple": (3.0, 1.0, 2.0),
    "whole numbers": np.array([3, 1, 2], dtype=np.uint8),
    "half precision": np.array([3, 1, 2], dtype=np.float16),
    "decimals": [Decimal(3), Decimal(1), Decimal(2)],
    "fractions": [Fraction(3), Fraction(1), Fraction(2)],
    "objects": np.array([3, 1.0, np.int8(2)], dtype=object),
    "pandas": pd.Series([3, 1, 2], index=[7, 7, 8]),
    "pandas with NA": pd.Series([3, 1, 2], dtype="Int64"),
    "polars": pl.Series([3, 1, 2]),
    "a frame": pd.DataFrame({"a": [3, 1, 2]}),
    "a polars frame": pl.DataFrame({"a": [3.0, 1.0, 2.0]}),
    "a row": np.array([[3], [1], [2]]),
}


@pytest.mark.parametrize("values", NUMBERS.values(), ids=NUMBERS)
def test_numbers_of_every_kind_are_a_column_of_floats(values: Any):
    found = as_columns(values, "x")
    assert found.dtype == np.float64
    assert found.tolist() == [[3], [1], [2]]


def test_truth_values_are_numbers_and_tables_keep_their_columns():
    assert as_columns([True, False], "x").tolist() == [[1], [0]]
    assert as_columns([[1, None], [3, 4]], "x").shape == (2, 2)


@pytest.mark.parametrize("name", MEASURES)
def test_measures_go_by_their_names(name: str):
    assert measure_named(name).name == name
    assert isinstance(measure_named(name), Measure)
    own = SMI(ridge=0.5)
    assert measure_named(own) is own


OPTIONS: dict[str, tuple[Any, type[Exception], str]] = {
    "unknown measure": (lambda: measure_named("mi"), InputError, "no measure 'mi'; there are 'smi'"),
    "a class": (lambda: measure_named(SMI), TypeError, "a name or a Measure"),
    "no measure": (lambda: measure_named(3), TypeError, "a name or a Measure"),
    "no width": (lambda: SMI(widths=()), InputError, "widths must be one or more positive"),
    "width 0": (lambda: SMI(widths=(1.0, 0.0)), InputError, "widths must be"),
    "a width alone": (lambda: LSMI(widths=1.0), InputError, "widths must be"),
    "widths of text": (lambda: LSMI(widths=("a",)), InputError, "widths must be"),
    "infinite width": (lambda: LSMI(widths=(np.inf,)), InputError, "widths must be"),
    "no ridge": (lambda: SMI(ridge=0.0), InputError, "ridge must be"),
    "negative ridge": (lambda: LSMI(ridges=(-1.0,)), InputError, "ridges must be"),
    "NaN as ridge": (lambda: LSMI(ridges=(np.nan,)), InputError, "ridges must be"),
    "no centres": (lambda: LSMI(n_centres=0), InputError, "n_centres must be at least 1, got 0"),
    "half a centre": (lambda: LSMI(n_centres=2.5), TypeError, "n_centres must be a whole number, got 2.5"),
    "one fold": (lambda: LSMI(folds=1), InputError, "folds must be at least 2, got 1"),
    "true folds": (lambda: LSMI(folds=True), TypeError, "folds must be a whole number"),
    "unknown centres": (lambda: LSMI(centres="grid"), InputError, "centres of LSMI"),
    "unknown estimate": (lambda: LSMI(estimate_by="s6"), InputError, "'s6'"),
    "unknown form": (lambda: HSIC(form="random"), InputError, "'random'"),
}


@pytest.mark.parametrize(("make", "kind", "said"), OPTIONS.values(), ids=OPTIONS)
def test_bad_options_are_refused_in_one_sentence(make: Any, kind: type[Exception], said: str):
    with pytest.raises(kind, match=said):
        make()
