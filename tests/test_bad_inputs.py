"""Bad input, one table: each is refused with a sentence that says what and where; and odd input that has an answer."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

from dueto import (
    ConstraintError,
    Explainer,
    FeatureSpace,
    GeCo,
    GreedyRuleCF,
    InputError,
    Status,
    as_model,
    cf,
    explain,
    fixed,
    together,
)

if TYPE_CHECKING:
    from collections.abc import Callable

DATA = pd.DataFrame({"income": [12, 22, 35, 41, 50], "debt": [40, 32, 32, 10, 5], "job": ["a", "b", "a", "c", "a"]})
NUMBERS = DATA[["income", "debt"]]
SPACE = FeatureSpace.infer(DATA)
LABELS = [0, 0, 1, 1, 1]


def model(table: Any) -> Any:
    return ((table["income"] > 22) | (table["debt"] < 32)) * 1.0


def tree(table: Any, labels: Any = LABELS) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(random_state=0).fit(table, labels)


def of(**options: Any) -> Callable[[], Any]:
    """An explanation of row 1 of DATA by `model`, but for what is said otherwise."""
    given = {"model": model, "data": DATA, "row": 1} | options
    return lambda: explain(given.pop("model"), given.pop("data"), given.pop("row"), **given)


def giving(scores: Any) -> Callable[[Any], Any]:
    return lambda table: scores(len(table))


def failing(problem: BaseException) -> Callable[[Any], Any]:
    def predict(_: Any) -> Any:
        raise problem

    return predict


def picky(table: Any) -> Any:
    if (table["job"] == "c").any():
        raise ValueError("Found unknown categories ['c'] in column 2 during transform")
    return np.zeros(len(table))


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    # the data
    "no rows": (of(data=DATA.iloc[:0]), InputError, "^the data has no rows; give at least one row"),
    "no columns": (of(data=DATA[[]]), InputError, "^the data has no columns; give a table"),
    "no rows, polars": (of(data=pl.DataFrame({"a": []})), InputError, "^the data has no rows"),
    "no columns, polars": (of(data=pl.DataFrame()), InputError, "^the data has no columns"),
    "no rows, array": (of(data=np.empty((0, 3))), InputError, "^the data has no rows"),
    "no columns, array": (of(data=np.empty((3, 0))), InputError, "^the data has no columns"),
    "two columns of one name": (
        of(data=DATA.rename(columns={"job": "debt"})),
        InputError,
        "^two columns are named 'debt'; rename one",
    ),
    "two names that read alike": (
        of(data=pd.DataFrame([[1, 2]], columns=[1, "1"])),
        InputError,
        "^two features would be named '1'; rename a column",
    ),
    "infinite": (
        of(data=DATA.assign(x=[1, 2, -np.inf, 3, 4])),
        InputError,
        "^column 'x', row 2: the value is infinite; replace it",
    ),
    "infinite label": (
        of(data=DATA.assign(x=pd.Categorical([1, 2, np.inf, 1, 2], [1, 2, np.inf], ordered=True))),
        InputError,
        "^feature 'x' has the label inf, which is infinite; replace it by a finite number, a text or a missing value$",
    ),
    "huge number": (
        of(data=DATA.assign(x=[1, 1e308, 2, 3, 4])),
        InputError,
        r"^column 'x', row 1: the value is beyond 1e\+150; rescale",
    ),
    "huge integer": (
        of(data=DATA.assign(x=[1, 2**53 + 1, 2, 3, 4])),
        InputError,
        r"^column 'x', row 1: the value is not below 2\*\*53",
    ),
    "huge integer beside a missing one": (
        of(data=DATA.assign(x=pd.array([1, None, 2**53 + 1, 3, 4], dtype="Int64"))),
        InputError,
        r"^column 'x', row 2: the value is not below 2\*\*53",
    ),
    "huge integer, polars": (
        of(data=pl.DataFrame({"x": [1, None, 2**53 + 1]})),
        InputError,
        r"^column 'x', row 2: the value is not below 2\*\*53",
    ),
    "integer beyond 64 bits": (
        of(data=DATA.assign(x=pd.Series([1, 2, 3, 10**30, 4], dtype=object))),
        InputError,
        r"^column 'x', row 3: the value is not below 2\*\*53",
    ),
    "dates": (
        of(data=DATA.assign(x=pd.Timestamp("2020-01-01"))),
        InputError,
        "^column 'x' holds dates or times; turn it into a number, such as days before today$",
    ),
    "dates as objects": (
        of(data=DATA.assign(x=pd.Series([pd.Timestamp("2020-01-01").date()] * 5, dtype=object))),
        InputError,
        "^column 'x' holds dates or times",
    ),
    "dates, polars": (
        of(data=pl.DataFrame({"x": ["2020-01-01"]}).select(pl.col("x").str.to_date())),
        InputError,
        "^column 'x' holds dates or times",
    ),
    "lengths of time": (of(data=DATA.assign(x=pd.Timedelta(days=1))), InputError, "^column 'x' holds dates or times"),
    "numbers and texts mixed": (
        of(data=DATA.assign(x=pd.Series([1, "a", 2, 3, 4], dtype=object))),
        InputError,
        "^column 'x' holds values of kind 'mixed-integer'; make it all numbers or all text$",
    ),
    "lists": (of(data=DATA.assign(x=[[1]] * 5)), InputError, "^column 'x' holds values of kind 'mixed'"),
    "lists, polars": (of(data=pl.DataFrame({"x": [[1, 2]]})), InputError, "^column 'x' holds values of kind 'mixed'"),
    "complex numbers": (of(data=DATA.assign(x=1j)), InputError, "^column 'x' holds values of kind 'complex'"),
    "bytes": (of(data=DATA.assign(x=b"a")), InputError, "^column 'x' holds values of kind 'bytes'"),
    "categories that are intervals": (
        of(data=DATA.assign(x=pd.cut(DATA["income"], 2))),
        InputError,
        "^column 'x' has categories of type Interval, such as .*rename them as text",
    ),
    "a dict": (of(data={"income": [1]}), TypeError, "^expected a pandas or polars DataFrame or .*got dict"),
    "nothing": (of(data=None), TypeError, "^expected a pandas or polars DataFrame or .*got NoneType"),
    "a number": (of(data=5), TypeError, "^expected a pandas or polars DataFrame or .*got int of 0 dimension"),
    "a list of numbers": (of(data=[1, 2]), TypeError, "^expected a pandas or .*got list of 1 dimension"),
    "a Series": (of(data=DATA["income"]), TypeError, "^expected a pandas or polars DataFrame or .*got Series"),
    "a lazy frame": (of(data=pl.LazyFrame({"a": [1]})), TypeError, "^expected a pandas or .*got LazyFrame"),
    "rows of different lengths": (
        of(data=[[1, 2], [3]]),
        InputError,
        "^the rows of the data do not make a table; give each of them as many values$",
    ),
    "a masked array": (
        of(data=np.ma.masked_array([[1.0, 2.0]], mask=[[True, False]])),
        TypeError,
        r"got MaskedArray of 2 dimension\(s\); fill what it masks, as in array.filled\(numpy.nan\)$",
    ),
    # the row
    "row number too large": (of(row=5), InputError, "^there is no row 5: the data has rows 0 to 4$"),
    "row number negative": (of(row=-1), InputError, "^there is no row -1: the data has rows 0 to 4$"),
    "row is a truth value": (of(row=True), TypeError, "^a row must be its number, a mapping, .*, got True$"),
    "row is a float": (of(row=1.0), TypeError, "^a row must be its number, .*, got 1.0$"),
    "row is nothing": (of(row=None), TypeError, "^a row must be its number, .*, got None$"),
    "row is a text": (of(row="1"), TypeError, "^a row must be its number, .*, got '1'$"),
    "row is a set": (of(row={1, 2, 3}), TypeError, "^a row must be its number"),
    "row is too short": (of(row=[0, 1]), InputError, "^the row has 2 values, but the data has 3 columns; give one for"),
    "row is two rows": (of(row=DATA.iloc[:2]), InputError, "^expected one row, got 2; choose one by its number$"),
    "row lacks a column": (
        of(row={"income": 1, "debt": 2}),
        InputError,
        "^the row has no value for column 'job'; give every column, None where it is missing$",
    ),
    "row frame lacks a column": (of(row=NUMBERS.iloc[[0]]), InputError, "^the data has no column 'job'; it has"),
    "unknown category": (
        of(row={"income": 1, "debt": 2, "job": "judge"}),
        InputError,
        "^column 'job', row 0: 'judge' is not one of its categories, 'a', 'b', 'c'; correct the row, or declare",
    ),
    "text for a number": (
        of(row={"income": "much", "debt": 2, "job": "a"}),
        InputError,
        "^column 'income', row 0: 'much' is not a number",
    ),
    "infinite value": (
        of(row={"income": np.inf, "debt": 2, "job": "a"}),
        InputError,
        "^column 'income', row 0: the value is infinite",
    ),
    "a row that is not refused": (
        of(row=2),
        InputError,
        "^Row 2 is not refused: its score 1 is above the threshold 0.5, so .*; refused are, for example, rows 0, 1$",
    ),
    "an applicant who is not refused": (of(row=[99, 5, "a"]), InputError, "^This row is not refused: its score 1 is"),
    "nobody is refused": (of(model=giving(np.ones)), InputError, "; nobody in the data is refused$"),
    "a tree of one class, the desired one": (
        of(model=tree(NUMBERS, [1] * 5)),
        InputError,
        "^DecisionTreeClassifier was fitted on one class only, 1, so it has nothing to decide; fit it on rows of both",
    ),
    "a tree of one class, not the desired one": (
        of(model=tree(NUMBERS, [0] * 5), data=NUMBERS, desired=1),
        InputError,
        "^DecisionTreeClassifier was fitted on one class only, 0, so it has nothing to decide; fit it on rows of both",
    ),
    # the model
    "no model": (of(model=None), TypeError, "^a model must be a fitted classifier or a function .*, got NoneType$"),
    "model is a path": (of(model="m.skops"), TypeError, "got str; read a file with load_model$"),
    "model is a class": (of(model=DecisionTreeClassifier), TypeError, "DecisionTreeClassifier is a class; fit one"),
    "model not fitted": (of(model=DecisionTreeClassifier()), InputError, "^DecisionTreeClassifier is not fitted"),
    "model is a regressor": (
        of(model=LinearRegression().fit(NUMBERS, LABELS), data=NUMBERS),
        InputError,
        r"^LinearRegression is a regressor, and its values are no scores in \[0, 1\]",
    ),
    "model gives NaN": (
        of(model=giving(lambda n: np.full(n, np.nan))),
        InputError,
        r"^the model '<lambda>' gave the score nan to row 0 \(income=22, debt=32, job=b\); give a number in \[0, 1\]",
    ),
    "model gives other numbers": (
        of(model=lambda table: table["income"]),
        InputError,
        r"^the model '<lambda>' gave the score 22 to row 0 .*; give a number in \[0, 1\]",
    ),
    "model gives one number": (
        of(model=lambda _: 0.5),
        InputError,
        r"gave an array of shape \(\) for 1 rows; give one",
    ),
    "model gives too few": (of(model=lambda _: [0.0]), InputError, r"gave an array of shape \(1,\) for 5 rows"),
    "model gives three columns": (
        of(model=giving(lambda n: np.full((n, 3), 1 / 3))),
        InputError,
        "^the model gives 3 columns; say which is the desired one by its number: 0, 1, 2$",
    ),
    "model gives texts": (
        of(model=giving(lambda n: ["yes"] * n)),
        InputError,
        "gave text, such as 'yes', not numbers; give",
    ),
    "model raises": (
        of(model=failing(ZeroDivisionError("division by zero"))),
        InputError,
        r"^the model 'predict' failed on row 0 \(income=22, debt=32, job=b\) with ZeroDivisionError: division by zero",
    ),
    "model raises on a category": (
        of(model=picky),
        InputError,
        r"^the model 'picky' failed on row 3 \(income=41, debt=10, job=c\) with ValueError: Found unknown categories",
    ),
    "model wants another column": (
        of(model=lambda table: table["age"]),
        InputError,
        "failed on .* with KeyError: 'age'",
    ),
    "model wants no table": (of(model=lambda: 0), InputError, "failed on .* with TypeError: .* takes 0 positional"),
    "model fitted on other columns": (
        of(model=tree(NUMBERS.rename(columns={"debt": "debts"})), data=NUMBERS),
        InputError,
        "^DecisionTreeClassifier was fitted on a column 'debts', which the data does not have; did you mean 'debt'",
    ),
    "target left in an array": (
        of(model=tree(NUMBERS.to_numpy()), data=NUMBERS.assign(target=1).to_numpy()),
        InputError,
        "^DecisionTreeClassifier was fitted on 2 columns, but the data has 3; give the table .*, without the target$",
    ),
    "several classes and none desired": (
        of(model=tree(NUMBERS, ["lo", "lo", "mid", "hi", "hi"]), data=NUMBERS),
        InputError,
        "^the model has 3 classes; say which is the desired one: 'hi', 'lo', 'mid'$",
    ),
    "no such class": (
        of(model=tree(NUMBERS, ["lo", "lo", "hi", "hi", "hi"]), data=NUMBERS, desired="high"),
        InputError,
        "^the model has no class 'high'; its classes are 'hi', 'lo'$",
    ),
    "threshold of 1": (of(threshold=1), InputError, r"^threshold 1 is not in \[0, 1\)"),
    "threshold of NaN": (of(threshold=np.nan), InputError, r"^threshold nan is not in \[0, 1\)"),
    "threshold is a text": (of(threshold="0.5"), TypeError, "^threshold must be a number, got '0.5'$"),
    # the space
    "space lacks a column of the model": (
        of(space=FeatureSpace.infer(DATA[["debt", "job"]])),
        InputError,
        "failed on .* with KeyError: 'income'",
    ),
    "space lacks a category of the data": (
        of(space=FeatureSpace.infer(DATA.iloc[:2])),
        InputError,
        "^column 'job', row 3: 'c' is not one of its categories, 'a', 'b'",
    ),
    "space has another column": (
        of(space=FeatureSpace.infer(DATA.assign(age=1))),
        InputError,
        "^the data has no column 'age'; it has 'income', 'debt', 'job'$",
    ),
    "space of an array": (
        of(space=FeatureSpace.infer(DATA.to_numpy())),
        InputError,
        "^the data has no column 0; it has",
    ),
    "space is no space": (of(space={"income": 1}), TypeError, "^space must be a FeatureSpace, got dict$"),
    "model of another space": (
        of(model=as_model(model, FeatureSpace.infer(DATA)), space=SPACE),
        InputError,
        "^the model 'model' was made for another feature space; wrap the original model in this one$",
    ),
    # constraints
    "constraint on an unknown feature": (
        of(constraints=cf.incom >= 3),
        InputError,
        "^there is no feature 'incom'; did you mean 'income'.* .in the constraint cf.incom >= 3.$",
    ),
    "an unknown feature fixed": (
        of(constraints=fixed("jobs")),
        InputError,
        "^there is no feature 'jobs'; did you mean",
    ),
    "an unknown feature tied": (
        of(constraints=together("income", "dept")),
        InputError,
        "^there is no feature 'dept'; did you mean 'debt'",
    ),
    "constraint with an unknown label": (
        of(constraints="cf.job == 'judge'"),
        InputError,
        "^job has no label 'judge': its labels are 'a', 'b', 'c' .in the constraint",
    ),
    "constraint that orders a category": (of(constraints="cf.job > 'a'"), InputError, "^job has no order: compare it"),
    "constraint that is no condition": (
        of(constraints=cf.income),
        InputError,
        "^cf.income is a value, not a condition",
    ),
    "constraint with a mistake": (
        of(constraints="cf.income >= 3\ncf.debt >> 4"),
        ConstraintError,
        "line 2, column 10",
    ),
    "constraint that would run": (of(constraints="__import__('os')"), ConstraintError, "line 1, column 1"),
    "a file of constraints as a text": (
        of(constraints="loan.plaf"),
        InputError,
        "^'loan.plaf' is read as constraints, not as the name of a file; give a pathlib.Path$",
    ),
    "no such file of constraints": (
        of(constraints=Path("none.plaf")),
        InputError,
        "^cannot read none.plaf: No such file",
    ),
    "a folder of constraints": (of(constraints=Path()), InputError, "^cannot read .: "),
    "constraints that are nothing": (of(constraints=None), TypeError, "^constraints must be PLAF text, .*, got None$"),
    "constraints that are numbers": (of(constraints=[5]), TypeError, "^constraints must be PLAF text, .*, got 5$"),
    "constraints that are true": (of(constraints=True), TypeError, "^constraints must be PLAF text, .*, got True$"),
    # options
    "no counterfactuals wanted": (
        of(k=0),
        InputError,
        "^k, the most counterfactuals returned, must be at least 1, got 0",
    ),
    "half a counterfactual": (of(k=2.5), TypeError, "^k must be a whole number, got 2.5$"),
    "k is a truth value": (of(k=True), TypeError, "^k must be a whole number, got True$"),
    "k is a text": (of(k="5"), TypeError, "^k must be a whole number, got '5'$"),
    "a negative seed": (of(rng=-1), InputError, "^rng must be a Generator or a seed, a whole number from 0, got -1$"),
    "a seed of text": (of(rng="lucky"), TypeError, "^rng must be a Generator or a seed, .*, got 'lucky'$"),
    "unknown finder": (
        of(method="best"),
        InputError,
        "^there is no rule finder 'best'; there are 'auto', 'greedy', 'genetic', 'genetic-cf', 'anchor'",
    ),
    "unknown method": (
        of(counterfactual_method="best"),
        InputError,
        "^there is no counterfactual method 'best'; there are 'auto', 'geco', 'leaf-boxes', ",
    ),
    "a method for trees": (
        of(counterfactual_method="leaf-boxes"),
        InputError,
        "^the method 'leaf boxes' cannot answer this: the model is not a decision tree .*; use 'auto'$",
    ),
    "distance is no distance": (of(distance=5), TypeError, "^distance must be a Distance, got int$"),
    "a search of no survivors": (lambda: GeCo(survivors=0), InputError, "^GeCo's survivors must be at least 1, got 0$"),
    "a finder of no covers": (
        lambda: GreedyRuleCF(covers=0),
        InputError,
        "^GreedyRuleCF's covers must be at least 1, got 0$",
    ),
}


@pytest.mark.parametrize(("call", "error", "sentence"), REFUSED.values(), ids=REFUSED)
def test_bad_input_is_refused_in_one_sentence(call: Callable[[], Any], error: type[Exception], sentence: str):
    with pytest.raises(error, match=sentence) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert "Traceback" not in text
    assert len(text) < 400


WIDE = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (60, 1000))).add_prefix("f")
ANSWERED: dict[str, tuple[Callable[[], Any], str, str, Status]] = {
    "one row": (of(data=DATA.iloc[[1]], row=0), "(no condition: everybody)", "", Status.NONE),
    "one row, one column": (
        lambda: explain(lambda table: table["a"] * 0.0, pd.DataFrame({"a": [1]}), 0),
        "(no condition: everybody)",
        "",
        Status.NONE,
    ),
    "everybody refused": (of(model=giving(np.zeros)), "(no condition: everybody)", "", Status.NONE),
    "ties at the threshold": (
        of(model=giving(lambda n: np.full(n, 0.5))),
        "(no condition: everybody)",
        "",
        Status.NONE,
    ),
    "constant column": (
        of(data=DATA.assign(same=1)),
        "income <= 22 and debt >= 32",
        "income: 22 → 35",
        Status.OPTIMAL,
    ),
    "column all missing": (
        of(data=DATA.assign(gone=np.nan)),
        "income <= 22 and debt >= 32",
        "income: 22 → 35",
        Status.OPTIMAL,
    ),
    "missing values": (
        of(data=DATA.assign(age=[1, np.nan, 2, 3, np.nan])),
        "income <= 22 and debt >= 32",
        "income: 22 → 35",
        Status.OPTIMAL,
    ),
    "integer column names": (
        lambda: explain(lambda t: (t[0] > 22) * 1.0, NUMBERS.set_axis([0, 1], axis=1), 1, constraints=cf[1] <= 32),
        '"0" <= 22',
        "0: 22 → 35",
        Status.OPTIMAL,
    ),
    "names of two levels": (
        lambda: explain(
            lambda t: (t[("a", "b")] > 1) * 1.0,
            pd.DataFrame([[1, 2], [2, 3]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])),
            0,
        ),
        "('a', 'b') <= 1",
        "('a', 'b'): 1 → 2",
        Status.OPTIMAL,
    ),
    "an index that is no count": (
        of(data=DATA.set_axis([7, 7, 8, 8, 9])),
        "income <= 22 and debt >= 32",
        "income: 22 → 35",
        Status.OPTIMAL,
    ),
    "rows in a list": (
        lambda: explain(lambda table: (table[:, 0] > 1) * 1.0, [[1, "a"], [2, "b"]], 0),
        "x0 <= 1",
        "x0: 1 → 2",
        Status.OPTIMAL,
    ),
    "target left in the frame": (
        of(model=tree(NUMBERS[["income"]]), data=DATA.assign(target=LABELS)),
        "income <= 22",
        "income: 22 → 35",
        Status.OPTIMAL,
    ),
    "a model of truth values": (
        of(model=lambda table: table["income"] > 22),
        "income <= 22",
        "income: 22 → 35",
        Status.OPTIMAL,
    ),
    "a model of two columns": (
        of(model=lambda table: np.column_stack([table["income"] <= 22, table["income"] > 22])),
        "income <= 22",
        "income: 22 → 35",
        Status.OPTIMAL,
    ),
    "numbers near the largest": (
        lambda: explain(lambda t: (t["a"] > 0) * 1.0, pd.DataFrame({"a": [-1e150, 1e-200, 1e150]}), 0),
        "a <= -1e+150",
        "a: -1e+150 → 1e-200",
        Status.OPTIMAL,
    ),
    "numbers near each other": (
        lambda: explain(lambda t: (t["a"] > 0.1) * 1.0, pd.DataFrame({"a": [0.1, np.nextafter(0.1, 1), 5.0]}), 0),
        "a <= 0.1",
        "a: 0.1 → 0.10000000000000002",
        Status.OPTIMAL,
    ),
    "a constraint that the row breaks": (
        of(constraints="cf.job == 'a'"),
        "income <= 22 and debt >= 32",
        "income: 22 → 35; job: b → a",
        Status.OPTIMAL,
    ),
    "no bound on how many": (of(k=10**20), "income <= 22 and debt >= 32", "income: 22 → 35", Status.OPTIMAL),
    "1000 columns, a tree": (
        lambda: explain(tree(WIDE, WIDE["f7"]), WIDE, int(WIDE["f7"].argmin())),
        "f7 <= 0",
        "f7: 0 → 1",
        Status.OPTIMAL,
    ),
    "150 columns, any model": (
        lambda: explain(lambda t: t["f7"] * 1.0, WIDE.iloc[:, :150], int(WIDE["f7"].argmin())),
        "f7 <= 0",
        "f7: 0 → 1",
        Status.FOUND,
    ),
}


@pytest.mark.parametrize(("call", "rule", "change", "status"), ANSWERED.values(), ids=ANSWERED)
def test_odd_input_that_has_an_answer_gets_it(call: Callable[[], Any], rule: str, change: str, status: Status):
    e = call()
    assert str(e.rule) == rule
    assert str(e.counterfactuals[0] if e.counterfactuals else "") == change
    assert e.status is status
    assert str(e)
    assert e.to_json()


def test_an_error_leaves_the_explainer_as_it_was():
    explainer = Explainer(model, DATA)
    before = explainer.explain(1).to_dict()
    for bad in (99, 2, {"income": 1}, None):
        with pytest.raises((InputError, TypeError)):
            explainer.explain(bad)
    after = explainer.explain(1).to_dict()
    assert {**after, "seconds": 0, "rows_scored": 0} == {**before, "seconds": 0, "rows_scored": 0}


def test_an_interrupt_is_no_error_of_the_model():
    with pytest.raises(KeyboardInterrupt):
        explain(failing(KeyboardInterrupt()), DATA, 1)
