"""Tables to try things on: three that ship, and the papers' own, read from a folder that the user has.

The three come from the UCI Machine Learning Repository under CC BY 4.0. The others are found under
`folder`, or under the folder that the environment variable DUETO_DATA names. Every loader reads afresh: what
it returns is the caller's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dueto.datasets.outside import outside
from dueto.space import FeatureSpace

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pandas as pd
    from numpy.typing import NDArray

__all__ = [
    "Dataset",
    "load_adult",
    "load_flights",
    "load_german_credit",
    "load_heloc",
    "load_kdd_census",
    "load_paper_adult",
    "load_paper_credit",
    "load_paper_fico",
    "load_taiwan_credit",
]


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A table with the outcome of each row.

    Parameters
    ----------
    name : str
        What the table is called.
    frame : pandas DataFrame, m rows
        The features alone: numbers, and pandas categories (ordered where the labels have an order).
    target : pandas Series of bool, m rows
        Whether each row had the desired outcome.
    space : FeatureSpace
        The features with the values that occur.
    desired : str
        What a True in `target` means.
    description : str
        What a row is.
    source : str
        Whom to cite, and the licence.
    tree : mapping of arrays, optional
        The published decision tree over the columns of `frame`: `left`, `right` (-1 at a leaf), `feature`,
        `threshold` (left iff float32(x) <= threshold), `value` (k, 2), column 1 counting the desired.
    """

    name: str
    frame: pd.DataFrame
    target: pd.Series[bool]
    space: FeatureSpace
    desired: str
    description: str
    source: str
    tree: Mapping[str, NDArray[np.generic]] | None = None

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        share = self.target.mean()
        return f"<Dataset {self.name}: {rows:,} rows, {columns} columns; {self.desired}: {share:.1%}>"


ORDERS = {
    ("adult", "education"): "Preschool < 1st-4th < 5th-6th < 7th-8th < 9th < 10th < 11th < 12th < HS-grad"
    " < Some-college < Assoc-voc < Assoc-acdm < Bachelors < Masters < Prof-school < Doctorate",
    (
        "german_credit",
        "employment",
    ): "unemployed < below 1 year < 1 to 4 years < 4 to 7 years < 7 years or more",
    ("german_credit", "job"): "unemployed or unskilled non-resident < unskilled resident < skilled"
    " < management or highly qualified",
}


def load_adult() -> Dataset:
    """Adult, also called Census Income: 48,842 people, 14 features.

    `education` is ordered, and tied to `education-num`, its rank. 3,620 rows have a missing value, always in
    `workclass`, `occupation` or `native-country`. `fnlwgt` weighs the row in the census; it is not a property
    of the person. The first 32,561 rows are the repository's training file.

    Examples
    --------
    >>> from dueto.datasets import load_adult
    >>> adult = load_adult()
    >>> adult
    <Dataset adult: 48,842 rows, 14 columns; income above 50,000 dollars: 23.9%>
    >>> adult.space["education"].labels[-3:]
    ('Masters', 'Prof-school', 'Doctorate')
    """
    frame, income = _shipped("adult", "income")
    return Dataset(
        name="adult",
        frame=frame,
        target=(income == ">50K").rename("rich"),
        space=FeatureSpace.infer(frame, groups=[("education", "education-num")]),
        desired="income above 50,000 dollars",
        description="A person in the United States census of 1994, and what they earned.",
        source="Becker and Kohavi (1996), UCI Machine Learning Repository, doi:10.24432/C5XW20, CC BY 4.0",
    )


def load_taiwan_credit() -> Dataset:
    """Default of credit card clients, Taiwan 2005: 30,000 clients, 23 features; New Taiwan dollars.

    For each month from April to September, `bill_*` is the statement, `paid_*` what was paid, and
    `pay_status_*` is -2 card not used, -1 paid in full, 0 the least allowed was paid, k >= 1 payment k months
    late (the repository does not document -2 and 0: these are the usual readings). `code 0`, `code 5` and
    `code 6` are codes of `education` and `marriage` that it does not document either.

    Examples
    --------
    >>> from dueto.datasets import load_taiwan_credit
    >>> load_taiwan_credit()
    <Dataset taiwan_credit: 30,000 rows, 23 columns; no default in October: 77.9%>
    """
    frame, default = _shipped("taiwan_credit", "default")
    return Dataset(
        name="taiwan_credit",
        frame=frame,
        target=(default == "no").rename("no_default"),
        space=FeatureSpace.infer(frame),
        desired="no default in October",
        description="Half a year of a credit card client in Taiwan, and whether they then paid.",
        source="Yeh and Lien (2009), UCI Machine Learning Repository, doi:10.24432/C55S3H, CC BY 4.0",
    )


def load_german_credit() -> Dataset:
    """Statlog German credit: 1,000 loans of 1973-1975, 20 features; amounts in Deutsche Mark.

    The labels are those that the repository documents. Several of them are known to be wrong [1]_
    (`foreign_worker` and `personal_status` among them): good for trying a method, not for statements about
    lending. `employment` and `job` are ordered; a range such as `100 to 500 DM` includes its lower end only.

    References
    ----------
    .. [1] U. Grömping, "South German Credit Data: Correcting a Widely Used Data Set", Report 4/2019, Beuth
       University of Applied Sciences Berlin.

    Examples
    --------
    >>> from dueto.datasets import load_german_credit
    >>> load_german_credit()
    <Dataset german_credit: 1,000 rows, 20 columns; good credit: 70.0%>
    """
    frame, credit = _shipped("german_credit", "credit")
    return Dataset(
        name="german_credit",
        frame=frame,
        target=(credit == "good").rename("good"),
        space=FeatureSpace.infer(frame),
        desired="good credit",
        description="A loan by a bank in southern Germany, and whether it was paid back as agreed.",
        source="Hofmann (1994), UCI Machine Learning Repository, doi:10.24432/C5NC77, CC BY 4.0",
    )


def load_heloc(*, folder: str | Path | None = None) -> Dataset:
    """FICO HELOC: 10,459 applications for a home equity line of credit, 23 features.

    Not shipped, since FICO's terms forbid it. The special values stay numbers: -9 no record, -8 no
    usable record, -7 condition not met.

    Parameters
    ----------
    folder : path, optional
        Holds `heloc/heloc_dataset_v1.csv.gz`; by default, the folder that DUETO_DATA names.

    Raises
    ------
    InputError
        If it is not there.
    """
    frame, risk = _read_csv(outside(folder, "heloc/heloc_dataset_v1.csv.gz"), "RiskPerformance")
    return Dataset(
        name="heloc",
        frame=frame,
        target=(risk == "Good").rename("good"),
        space=FeatureSpace.infer(frame),
        desired="never 90 days late in two years",
        description="An applicant for a home equity line, and whether they paid as agreed.",
        source="FICO, Explainable Machine Learning Challenge (2018); not to be redistributed",
    )


def load_paper_credit(*, folder: str | Path | None = None) -> Dataset:
    """The rule paper's Taiwan credit table, 29,623 rows, 14 features, and its unpruned tree of 4,937 nodes.

    Parameters
    ----------
    folder : path, optional
        Holds `paper_credit/`; by default, the folder that DUETO_DATA names.

    Raises
    ------
    InputError
        If it is not there.
    """
    frame, paid = _read_csv(outside(folder, "paper_credit/credit_processed.csv.gz"), "NoDefaultNextMonth")
    frame = frame.astype("int64")
    return Dataset(
        name="paper_credit",
        frame=frame,
        target=(paid == 1).rename("no_default"),
        space=FeatureSpace.infer(frame),
        desired="no default in October",
        description="Taiwan credit as Geng et al. (2022) prepared it, and the tree they explain.",
        source="github.com/GibbsG/GeneticCF (2022), from Yeh and Lien (2009), CC BY 4.0",
        tree=_tree(outside(folder, "paper_credit/credit_model_tree.npz")),
    )


def load_paper_adult(*, folder: str | Path | None = None) -> Dataset:
    """The rule paper's Adult table, 45,222 rows, 12 features in 42 columns, and its tree of 6,639 nodes.

    `WorkClass`, `MaritalStatus`, `Occupation` and `Relationship` are one-hot groups, each one feature.

    Parameters
    ----------
    folder : path, optional
        Holds `paper_adult/`; by default, the folder that DUETO_DATA names.

    Raises
    ------
    InputError
        If it is not there.
    """
    frame, label = _read_csv(outside(folder, "paper_adult/adult_processed.csv.gz"), "Label")
    frame = frame.iloc[:, 1:]  # the first column numbers the rows
    onehot = {
        name: [column for column in frame if str(column).startswith(f"{name}_cat_")]
        for name in ("WorkClass", "MaritalStatus", "Occupation", "Relationship")
    }
    return Dataset(
        name="paper_adult",
        frame=frame,
        target=(label == 1).rename("rich"),
        space=FeatureSpace.infer(frame, onehot=onehot),
        desired="income above 50,000 dollars",
        description="Adult as Geng et al. (2022) prepared it, rebuilt, and the tree they explain.",
        source="github.com/GibbsG/GeneticCF (2022), from Becker and Kohavi (1996), CC BY 4.0",
        tree=_tree(outside(folder, "paper_adult/adult_model_tree.npz")),
    )


def load_paper_fico(*, folder: str | Path | None = None) -> Dataset:
    """The rule paper's FICO table: HELOC without its 588 empty rows, 9,871 rows, 23 features.

    The target is what the two-layer additive model of the challenge's winners predicts, not what was seen.

    Parameters
    ----------
    folder : path, optional
        Holds `paper_fico/`; by default, the folder that DUETO_DATA names.

    Raises
    ------
    InputError
        If it is not there.
    """
    frame, risk = _read_csv(outside(folder, "paper_fico/fico.csv.gz"), "RiskBinary")
    return Dataset(
        name="paper_fico",
        frame=frame,
        target=(risk == 0).rename("good"),
        space=FeatureSpace.infer(frame),
        desired="low risk by the winners' model",
        description="An applicant for a home equity line, and what the winners' model predicts.",
        source="github.com/GibbsG/GeneticCF (2022), from FICO (2018); not to be redistributed",
    )


def load_kdd_census(*, folder: str | Path | None = None) -> Dataset:
    """Census-Income (KDD): 299,285 people, 40 features, for size. Needs the extra `parquet`.

    `?` is missing. The instance weight is left out: the repository says that no classifier should use it.

    Parameters
    ----------
    folder : path, optional
        Holds `scale_kdd_census_income/`; by default, the folder that DUETO_DATA names.

    Raises
    ------
    InputError
        If it is not there.
    """
    import pandas as pd

    frame = pd.read_parquet(outside(folder, "scale_kdd_census_income/kdd_census_income_299285x42.parquet"))
    income = frame.pop("income")
    frame = frame.drop(columns=["instance weight", "split"])
    for column in frame.columns[(frame == "?").any()]:
        frame[column] = frame[column].cat.remove_categories("?")
    codes = ["detailed industry recode", "detailed occupation recode", "own business or self employed"]
    return Dataset(
        name="kdd_census",
        frame=frame,
        target=(income == "50000+.").rename("rich"),
        space=FeatureSpace.infer(frame, category=[*codes, "veterans benefits"]),
        desired="income above 50,000 dollars",
        description="A person in the United States surveys of 1994 and 1995, and what they earned.",
        source="UCI Machine Learning Repository, Census-Income (KDD), doi:10.24432/C5N30T, CC BY 4.0",
    )


def load_flights(*, folder: str | Path | None = None) -> Dataset:
    """United States flights of 2001: 3,000,000 rows, 18 features, for size. Needs the extra `parquet`.

    Each flight is joined with its two airports: their state, place, and number, mean and deviation of delays.
    Those aggregates include the flight itself, so a model of this table measures speed, not skill.

    Parameters
    ----------
    folder : path, optional
        Holds `scale_flights_3m/`; by default, the folder that DUETO_DATA names.

    Raises
    ------
    InputError
        If it is not there.
    """
    import pandas as pd

    flights = pd.read_parquet(outside(folder, "scale_flights_3m/flights-3m.parquet"))
    airports = pd.read_csv(outside(folder, "scale_flights_3m/airports.csv"), index_col="iata")
    airports = airports[["state", "latitude", "longitude"]].astype({"state": "category"})
    date, delay = flights.pop("date"), flights.pop("delay")
    frame = flights.astype({"origin": "category", "destination": "category"})
    for side in ("origin", "destination"):
        delays = delay.groupby(frame[side], observed=True).agg(["size", "mean", "std"]).add_prefix("delay_")
        frame = frame.join(delays.join(airports).add_prefix(f"{side}_"), on=side)
    frame = frame.assign(month=date.dt.month, weekday=date.dt.day_of_week, hour=date.dt.hour)
    return Dataset(
        name="flights",
        frame=frame,
        target=(delay <= 15).rename("on_time"),
        space=FeatureSpace.infer(frame),
        desired="at most 15 minutes late",
        description="A flight within the United States in early 2001, and whether it came on time.",
        source="Bureau of Transportation Statistics, On-Time Performance; by way of vega-datasets 3.2.1",
    )


def _read_csv(path: Path, outcome: str) -> tuple[pd.DataFrame, pd.Series]:
    """The features of a table, and its outcome; only an empty field is missing."""
    import pandas as pd

    frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
    return frame, frame.pop(outcome)


def _shipped(name: str, outcome: str) -> tuple[pd.DataFrame, pd.Series]:
    """A table of `_data`, its text columns as categories, ordered where `ORDERS` says so."""
    from importlib import resources

    import pandas as pd

    with resources.as_file(resources.files("dueto") / "_data" / f"{name}.csv.xz") as path:
        frame, found = _read_csv(path, outcome)
    for column in frame.select_dtypes(exclude="number"):
        order = ORDERS.get((name, str(column)))
        labels = order.split(" < ") if order else None
        frame[column] = pd.Categorical(frame[column], labels, ordered=labels is not None)
    return frame, found


def _tree(path: Path) -> dict[str, NDArray[np.generic]]:
    with np.load(path, allow_pickle=False) as arrays:
        return dict(arrays)
