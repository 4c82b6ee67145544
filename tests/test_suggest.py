"""Suggested constraints: what is planted is found, once, and what comes with it is true."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from dueto import FeatureSpace, InputError, parse_constraints, suggest_constraints
from dueto.cli import main
from dueto.datasets import load_adult
from dueto.suggest import base

M = 3000


def texts(frame, space=None, **options):
    return [str(one.constraint) for one in suggest_constraints(frame, space, **options)]


def draw(seed=0):
    return np.random.default_rng(seed)


# -- planted ----------------------------------------------------------------------------------------------------------


def test_an_order_is_found_and_so_is_one_beside_missing_values_and_beside_codes():
    rng = draw()
    low = rng.poisson(4, M)
    high = low + rng.poisson(1, M)
    assert texts(pd.DataFrame({"a": low, "b": high})) == ["cf.a <= cf.b"]
    holes = pd.DataFrame({"a": low.astype(float), "b": high})
    holes.loc[::7, "a"] = np.nan
    assert texts(holes) == ["not cf.a > cf.b"]
    coded = pd.DataFrame({"a": low, "b": high})
    coded.loc[rng.random(M) < 0.1, "b"] = -9
    assert texts(coded) == ["cf.b >= 0 => cf.a <= cf.b"]


def test_an_order_of_labels_is_found_where_both_have_the_same():
    rng = draw()
    dtype = pd.CategoricalDtype(["little", "some", "much", "most"], ordered=True)
    low = rng.integers(0, 4, M)
    high = np.maximum(low, rng.integers(0, 4, M))
    frame = pd.DataFrame({n: pd.Categorical.from_codes(v, dtype=dtype) for n, v in {"a": low, "b": high}.items()})
    assert texts(frame) == ["cf.a <= cf.b"]


def test_sums_are_found():
    rng = draw()
    a, b = rng.poisson(3, M), rng.poisson(3, M)
    assert texts(pd.DataFrame({"a": a, "b": b, "c": a + b + rng.poisson(2, M)})) == ["cf.a + cf.b <= cf.c"]
    assert texts(pd.DataFrame({"a": a, "b": b, "c": a + b})) == ["cf.a + cf.b == cf.c"]
    first = rng.integers(0, 101, M)
    second = np.minimum(rng.integers(0, 101, M), 100 - first)
    second[:5], first[:5] = 100, 0
    assert texts(pd.DataFrame({"a": first, "b": second})) == ["cf.a + cf.b <= 100"]


def test_equal_and_tied_features_are_found_once():
    rng = draw()
    rank = rng.integers(0, 6, M)
    name = np.array(["none", "school", "college", "bachelor", "master", "doctor"])[rank]
    frame = pd.DataFrame({"rank": rank, "again": rank, "name": name, "age": rng.integers(18, 80, M)})
    assert sorted(texts(frame)) == ["cf.rank == cf.again", 'together("rank", "name")']
    grouped = FeatureSpace.infer(frame, groups=[("rank", "name", "again")])
    assert texts(frame, grouped) == ["cf.rank == cf.again"]


def test_one_value_for_each_of_another_is_a_tie_but_an_identity_number_ties_nothing():
    rng = draw()
    city = rng.integers(0, 12, M)
    frame = pd.DataFrame({"number": rng.permutation(M), "city": city, "country": np.array(list("xyz"))[city % 3]})
    assert texts(FeatureSpace.infer(frame, category=["city"]).decode(FeatureSpace.infer(frame).encode(frame))) == [
        'together("city", "country")'
    ]


def test_codes_that_the_same_rows_have_are_one_equivalence():
    rng = draw()
    frame = pd.DataFrame({name: rng.poisson(20, M) for name in "abc"})
    frame.loc[rng.random(M) < 0.1, :] = -9
    (one,) = suggest_constraints(frame)
    assert one.kind == "equivalence"
    assert str(one.constraint) == (
        "(cf.a == -9 => cf.b == -9) and (cf.b == -9 => cf.c == -9) and (cf.c == -9 => cf.a == -9)"
    )
    assert one.rows == (frame["a"] == -9).sum()


def test_values_missing_together_are_an_equivalence():
    rng = draw()
    frame = pd.DataFrame({name: rng.normal(size=M) for name in "ab"})
    frame.loc[rng.random(M) < 0.2, :] = np.nan
    assert texts(frame) == [
        "(cf.a.missing() => cf.b.missing()) and (cf.b.missing() => cf.a.missing())",
    ]


def test_implications_between_labels_numbers_and_truth_values_are_found():
    rng = draw()
    home = rng.choice(["rent", "own", "free"], M)
    frame = pd.DataFrame({"home": home, "loan": (home == "own") & (rng.random(M) < 0.5)})
    assert texts(frame) == ['cf.loan == True => cf.home == "own"']
    frame = pd.DataFrame({"home": home, "rent": np.where(home == "rent", rng.integers(0, 3000, M), 0)})
    assert texts(frame) == ['cf.rent > 0 => cf.home == "rent"']


def test_a_range_is_found_where_rows_lie_on_its_edge_and_not_at_the_end_of_a_tail():
    rng = draw()
    adult = rng.random(M) < 0.5
    age = np.where(adult, rng.integers(18, 90, M), rng.integers(0, 18, M))
    found = texts(pd.DataFrame({"may_vote": adult, "age": age}))
    assert sorted(found) == ["cf.may_vote == False => cf.age <= 17", "cf.may_vote == True => cf.age >= 18"]
    tail = pd.DataFrame({"ill": adult, "weight": np.where(adult, rng.normal(40, 5, M), rng.normal(70, 20, M))})
    assert texts(tail) == []


# -- redundant --------------------------------------------------------------------------------------------------------


def test_orders_that_follow_from_others_are_dropped():
    rng = draw()
    a = rng.poisson(3, M)
    b = a + rng.poisson(1, M)
    c = b + rng.poisson(1, M)
    assert sorted(texts(pd.DataFrame({"c": c, "a": a, "b": b}))) == ["cf.a <= cf.b", "cf.b <= cf.c"]


def test_implications_that_follow_from_others_are_dropped():
    rng = draw()
    cat = rng.random(M) < 0.2
    mammal = cat | (rng.random(M) < 0.3)
    animal = mammal | (rng.random(M) < 0.3)
    found = texts(pd.DataFrame({"cat": cat, "animal": animal, "mammal": mammal}))
    assert found.count("cf.cat == True => cf.mammal == True") == 1
    assert len(found) == 2


def test_ranges_that_follow_from_others_are_dropped():
    rng = draw()
    cat = rng.random(M) < 0.2
    mammal = cat | (rng.random(M) < 0.3)
    weight = np.where(mammal, rng.integers(50, 90, M), rng.integers(0, 90, M))
    found = texts(pd.DataFrame({"cat": cat, "mammal": mammal, "weight": weight}))
    assert sorted(found) == ["cf.cat == True => cf.mammal == True", "cf.mammal == True => cf.weight >= 50"]


def test_what_follows_from_an_order_is_dropped_and_what_codes_say_is_not():
    rng = draw()
    low = rng.integers(0, 12, M)
    assert texts(pd.DataFrame({"a": low, "b": low + rng.geometric(0.15, M) - 1})) == ["cf.a <= cf.b"]
    high = low + rng.geometric(0.3, M) - 1
    low[rng.random(M) < 0.2] = -7
    high[(low == -7) & (rng.random(M) < 0.5)] = -8
    found = texts(pd.DataFrame({"a": low, "b": high}))
    assert sorted(found) == ["cf.a >= 0 and cf.b >= 0 => cf.a <= cf.b", "cf.b == -8 => cf.a == -7"]


def test_what_follows_from_a_sum_is_dropped_and_what_never_meets_has_none():
    rng = draw()
    first, second = rng.multinomial(6, [0.3, 0.4, 0.3], M).T[:2]
    first[:9], second[:9], first[9:18], second[9:18] = 6, 0, 0, 6
    assert texts(pd.DataFrame({"a": first, "b": second})) == ["cf.a + cf.b <= 6"]
    which = rng.random(M) < 0.5
    amounts = pd.DataFrame({"a": which * rng.integers(0, 7, M), "b": ~which * rng.integers(0, 7, M)})
    assert texts(amounts) == ["cf.b >= 1 => cf.a == 0"]


def test_what_follows_by_way_of_a_tie_is_dropped():
    rng = draw()
    city = rng.integers(0, 12, M)
    frame = pd.DataFrame({"city": np.array(list("abcdefghijkl"))[city], "country": np.array(list("xyz"))[city % 3]})
    frame["euro"] = (frame["country"] == "x") & (rng.random(M) < 0.9)
    found = texts(frame)
    assert len(found) == 2
    assert 'together("city", "country")' in found


# -- what comes with them ---------------------------------------------------------------------------------------------


def test_the_share_ruled_out_is_that_of_independent_draws():
    rng = draw()
    a = rng.integers(0, 2, M)
    frame = pd.DataFrame({"a": a, "b": np.where(a == 1, 1, rng.integers(0, 2, M)), "c": rng.random(M)})
    found = suggest_constraints(frame, draws=50_000)
    (one,) = found
    exact = a.mean() * (1 - frame["b"].mean())
    assert abs(one.excluded - exact) < 5 * (exact / 50_000) ** 0.5
    assert one.expected == pytest.approx(M * exact, rel=0.01)
    assert one.excluded == found.excluded
    assert [o.excluded for o in suggest_constraints(frame, draws=50_000)] == [one.excluded]


def test_arrays_and_one_hot_groups_are_read_too():
    rng = draw()
    low = rng.poisson(4, M)
    array = np.column_stack([low, low + rng.poisson(1, M)])
    assert texts(array) == ["cf.x0 <= cf.x1"]
    job = rng.integers(0, 3, M)
    frame = pd.DataFrame({f"job_{k}": (job == k).astype(int) for k in range(3)})
    frame["wage"] = np.where(job == 1, 0, rng.integers(1, 9, M))
    space = FeatureSpace.infer(frame, onehot={"job": ["job_0", "job_1", "job_2"]})
    (one,) = suggest_constraints(frame, space)
    assert one.kind == "equivalence"
    assert one.rows == (job == 1).sum()


def test_only_so_many_features_are_looked_at_and_the_others_are_named(monkeypatch):
    monkeypatch.setattr(base, "WIDE", 2)
    rng = draw()
    low = rng.poisson(4, M)
    frame = pd.DataFrame({"constant": 1, "a": low, "b": low + rng.poisson(1, M), "c": low})
    found = suggest_constraints(frame)
    assert [str(one.constraint) for one in found] == ["cf.a <= cf.b"]
    assert found.unread == ("c",)
    assert "# Not looked at: c." in found.to_plaf()


# -- bad input --------------------------------------------------------------------------------------------------------


def test_bad_input_is_refused_and_a_table_that_says_nothing_gives_nothing():
    with pytest.raises(InputError, match="no rows"):
        suggest_constraints(pd.DataFrame({"a": []}))
    with pytest.raises(InputError, match="most must be at least 1"):
        suggest_constraints(pd.DataFrame({"a": [1]}), most=0)
    with pytest.raises(TypeError, match="draws must be a whole number"):
        suggest_constraints(pd.DataFrame({"a": [1]}), draws=1.5)
    for frame in (pd.DataFrame({"a": [1], "b": ["x"]}), pd.DataFrame({"a": [np.nan] * 9, "b": [None] * 9})):
        found = suggest_constraints(frame)
        assert (len(found), found.excluded, found.constraints) == (0, 0.0, [])
        assert len(parse_constraints(found.to_plaf())) == 0


# -- the command line -------------------------------------------------------------------------------------------------


def dueto(*arguments):
    done = CliRunner().invoke(main, list(map(str, arguments)))
    return done.exit_code, done.stdout


def test_the_command_writes_what_the_library_finds_and_check_accepts_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = load_adult().frame
    frame.to_csv("adult.csv", index=False)
    found = suggest_constraints(pd.read_csv("adult.csv"))
    assert len(found) > 4
    code, shown = dueto("space", "adult.csv", "--suggest-constraints")
    assert (code, shown) == (0, found.to_plaf())
    assert dueto("space", "adult.csv", "--suggest-constraints", "adult.plaf")[0] == 0
    assert (tmp_path / "adult.plaf").read_text(encoding="utf-8") == shown
    code, told = dueto("check", "adult.plaf", "adult.csv", "--json")
    checked = json.loads(told)["constraints"]
    assert code == 0
    assert [one["text"] for one in checked] == [str(one) for one in found.constraints]
    assert {one["broken_rows"] for one in checked} <= {0, None}
    code, told = dueto("space", "adult.csv", "--suggest-constraints", "-", "--json")
    assert json.loads(told)["suggestions"] == found.to_dict()
    assert "suggestions" not in json.loads(dueto("space", "adult.csv", "--json")[1])


def test_the_command_writes_over_no_file_and_none_of_another_kind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"a": range(9)}).to_csv("few.csv", index=False)
    (tmp_path / "mine.plaf").write_text("cf.a >= 0\n")
    assert dueto("space", "few.csv", "--suggest-constraints", "mine.plaf")[0] == 2
    assert dueto("space", "few.csv", "--suggest-constraints", "mine.txt")[0] == 2
    assert dueto("space", "few.csv", "--suggest-constraints", "nowhere/mine.plaf")[0] == 2
    assert (tmp_path / "mine.plaf").read_text() == "cf.a >= 0\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.csv", "mine.plaf"]
