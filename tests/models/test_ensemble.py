"""An ensemble is the sum of what a walk, node by node, finds in each tree; its splits are each asked once."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dueto.models.additive import Additive
from dueto.models.ensemble import Ensemble
from dueto.models.network import Network
from trials import trials

SPECIAL = [
    0.0,
    -0.0,
    1e-36,
    -1e-36,
    1e-35,
    0.1,
    np.float64(np.float32(0.1)),
    0.5,
    1.0,
    2.0,
    -1.0,
    1e39,
    np.inf,
    -np.inf,
]


def random_tree(rng, p, *, sets, zero):
    """A tree as arrays, grown by splitting random leaves."""
    tree = {name: [] for name in ("left", "right", "column", "threshold", "value", "missing_left", "zero", "sets")}

    def leaf():
        for name, value in (("left", -1), ("right", -1), ("column", 0), ("threshold", 0.0), ("zero", 0)):
            tree[name].append(value)
        tree["value"].append(rng.normal())
        tree["missing_left"].append(False)
        tree["sets"].append(None)
        return len(tree["left"]) - 1

    leaves = [leaf()]
    for _ in range(rng.integers(0, 12)):
        node = leaves.pop(rng.integers(len(leaves)))
        tree["left"][node], tree["right"][node] = leaf(), leaf()
        leaves += [tree["left"][node], tree["right"][node]]
        tree["column"][node] = int(rng.integers(p))
        tree["threshold"][node] = float(rng.choice(SPECIAL))
        tree["missing_left"][node] = bool(rng.integers(2))
        if zero:
            tree["zero"][node] = int(rng.integers(3))
        if sets and rng.integers(2):
            tree["sets"][node] = rng.choice([0.0, 1.0, 2.0, 3.0], rng.integers(0, 4), replace=False)
            tree["zero"][node] = 0
    return {name: values if name == "sets" else np.array(values) for name, values in tree.items()}


def walked(trees, z, *, strict, float32):
    """The sum for one row, by the book."""
    total = 0.0
    for tree in trees:
        node = 0
        while tree["left"][node] >= 0:
            v, zero = z[tree["column"][node]], tree["zero"][node]
            if float32:
                with np.errstate(over="ignore"):
                    v = float(np.float32(v))
            if np.isnan(v) and zero == 1:
                v = 0.0
            if np.isnan(v) or (zero == 2 and abs(v) <= np.float32(1e-35)):
                left = tree["missing_left"][node]
            elif tree["sets"][node] is not None:
                left = v in tree["sets"][node]
            else:
                left = v < tree["threshold"][node] if strict else v <= tree["threshold"][node]
            node = tree["left" if left else "right"][node]
        total += tree["value"][node]
    return total


@trials(60)
@given(
    seed=st.integers(0, 2**32 - 1),
    strict=st.booleans(),
    float32=st.booleans(),
    sets=st.booleans(),
    zero=st.booleans(),
    missing=st.booleans(),
)
def test_the_margin_is_that_of_a_walk_node_by_node(seed, strict, float32, sets, zero, missing):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 3, sets=sets, zero=zero) for _ in range(rng.integers(1, 6))]
    form = Ensemble.from_trees(trees, strict=strict, float32=float32, base=0.25)
    Z = rng.choice([*SPECIAL, 3.0, *([np.nan] if missing else [])], (40, 3))
    expected = [0.25 + walked(trees, z, strict=strict, float32=float32) for z in Z]
    assert np.allclose(form.margin(Z), expected, rtol=0, atol=1e-12)
    assert np.allclose([form.margin(z[None])[0] for z in Z], expected, rtol=0, atol=1e-12)


@trials(30)
@given(seed=st.integers(0, 2**32 - 1))
def test_each_question_is_kept_once_and_found_by_its_column(seed):
    rng = np.random.default_rng(seed)
    trees = [random_tree(rng, 3, sets=True, zero=True) for _ in range(6)]
    splits = Ensemble.from_trees(trees).splits
    form = Ensemble.from_trees(trees)
    sets = splits.sets or (None,) * len(splits)
    zero = np.zeros(len(splits)) if splits.zero is None else splits.zero
    asked = [
        (c, t if s is None else None, m, z, s if s is None else tuple(sorted(s)))
        for c, t, m, z, s in zip(splits.column, splits.threshold, splits.missing_left, zero, sets, strict=True)
    ]
    assert len(set(asked)) == len(splits)
    for column, which in form.by_column.items():
        assert (splits.column[which] == column).all()
        assert (splits.threshold[which][1:] >= splits.threshold[which][:-1]).all()
    assert sum(map(len, form.by_column.values())) == len(splits)
    assert form.n_leaves == sum((tree["left"] < 0).sum() for tree in trees)


def test_margins_are_the_same_whatever_rows_come_together():
    rng = np.random.default_rng(3)
    trees = [random_tree(rng, 3, sets=True, zero=True) for _ in range(40)]
    form = Ensemble.from_trees(trees)
    Z = rng.choice([*SPECIAL, 3.0, np.nan], (3000, 3))
    parts = [form.margin(part) for part in np.array_split(Z, 7)]
    assert np.allclose(form.margin(Z), np.concatenate(parts), rtol=0, atol=1e-12)


def test_nodes_that_nothing_leads_to_are_left_out():
    rng = np.random.default_rng(5)
    trees = [random_tree(rng, 3, sets=True, zero=True) for _ in range(9)]
    whole = Ensemble.from_trees(trees)
    cut = [
        {name: [*v, None, None] if name == "sets" else np.append(v, [-1, -1]) for name, v in tree.items()}
        for tree in trees
    ]
    pruned = Ensemble.from_trees(cut)
    for name in ("root", "left", "right", "split", "value"):
        assert np.array_equal(getattr(pruned, name), getattr(whole, name))


def test_no_rows_have_no_margins():
    tree = {"left": np.array([-1]), "right": np.array([-1]), "column": np.array([0]), "threshold": np.array([0.0])}
    form = Ensemble.from_trees([tree | {"value": np.array([2.0])}], base=1.0)
    assert form.margin(np.empty((0, 2))).shape == (0,)
    assert form.margin(np.zeros((3, 2))).tolist() == [3.0] * 3
    rng = np.random.default_rng(0)
    assert Ensemble.from_trees([random_tree(rng, 2, sets=True, zero=False)]).margin(np.empty((0, 2))).shape == (0,)


def test_sums_and_networks_are_their_formulas():
    Z = np.array([[1.0, 2.0], [-3.0, 0.5]])
    assert Additive(np.array([2.0, -1.0]), 0.5).margin(Z).tolist() == [0.5, -6.0]
    W = (np.array([[1.0, -1.0], [0.0, 2.0]]), np.array([[1.0], [0.5]]))
    b = (np.array([0.0, -1.0]), np.array([0.25]))
    assert Network(W, b).margin(Z).tolist() == [1.0 + 1.0 + 0.25, 0.0 + 1.5 + 0.25]
