"""What the nodes of an ONNX graph make of columns, of layers and of scores: one rule an operator."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.ensemble import Ensemble
from dueto.models.folding import Trace
from dueto.models.lookup import NotUnderstood

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

__all__ = ["DOUBLE", "RULES", "Cells", "Constant", "Layers", "Scores"]


@dataclass(frozen=True, eq=False)
class Constant:
    """A tensor that the file holds."""

    value: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Cells:
    """A tensor each column of which is a function of one feature; its name in the graph, and whether it is float64."""

    name: str
    trace: Trace
    double: bool = False


@dataclass(frozen=True, eq=False)
class Layers:
    """Affine maps (W, b) of `source`, each followed by a ReLU or not."""

    source: Cells
    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]
    bent: tuple[bool, ...]
    double: bool = False

    @property
    def width(self) -> int:
        return len(self.biases[-1])


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of classes, each a margin of `forms` or its logistic function; of two columns, the second over the first.

    `columns` says for each score which of the forms it is; ~i is 1 less the score of form i.
    """

    source: Cells
    forms: tuple[Layers | Ensemble, ...]
    logistic: bool
    columns: tuple[int, ...] = field(default=(~0, 0))


DOUBLE = 11  # the number of float64 among ONNX's types
Given = Constant | Cells | Layers | Scores
Attributes = dict[str, Any]


def _same(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    return replace(given[0], name=name) if isinstance(given[0], Cells) else given[0]


def _cast(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    if not isinstance(given[0], Cells):
        return given[0]
    return replace(given[0], name=name, double=attributes["to"] == DOUBLE)


def _shares(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    """Scores that add up to 1 already, over their sum."""
    if not isinstance(given[0], Scores) or attributes.get("norm") != b"L1":
        raise NotUnderstood("it normalises rows")
    return given[0]


def _alike(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    """A function of each number."""
    cells = _cells(given[0])
    return replace(cells, name=name, trace=Trace(cells.trace.owner, np.zeros_like(cells.trace.monotone)))


def _scaler(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    rising = (np.asarray(attributes["scale"]) > 0).all()
    kept = replace(_cells(given[0]), name=name, double=False)
    return kept if rising else _alike([kept], attributes, name)


def _imputer(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    kept = np.isnan(attributes.get("replaced_value_float", 0.0))
    return replace(_cells(given[0]), name=name) if kept else _alike(given, attributes, name)


def _onehot(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    width = len(attributes.get("cats_strings") or attributes["cats_int64s"])
    return Cells(name, _cells(given[0]).trace.spread(width))


def _picked(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    if attributes.get("axis", 1) not in {1, -1} or not isinstance(given[1], Constant):
        raise NotUnderstood("it gathers rows")
    cells = _cells(given[0])
    return replace(cells, name=name, trace=cells.trace.picked(given[1].value.ravel().astype(np.intp)))


def _concat(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    if attributes.get("axis") not in {1, -1}:
        raise NotUnderstood("it puts rows one below the other")
    scores = [part for part in given if isinstance(part, Scores)]
    if len(scores) == len(given):
        if any(part.forms is not scores[0].forms for part in scores):
            raise NotUnderstood("its scores come from different sources")
        return replace(scores[0], columns=tuple(c for part in scores for c in part.columns))
    parts = [_cells(part) for part in given]
    return Cells(name, Trace.joined(part.trace for part in parts), parts[0].double)


def _matmul(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    return _affine(given[0], _constant(given[1]), None)


def _gemm(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    W = _constant(given[1])
    W = (W.T if attributes.get("transB") else W) * attributes.get("alpha", 1.0)
    bias = _constant(given[2]) * attributes.get("beta", 1.0) if len(given) > 2 else None
    if attributes.get("transA"):
        raise NotUnderstood("it turns its table over")
    return _affine(given[0], W, bias)


def _affine(x: Given, W: NDArray[Any], bias: NDArray[Any] | None) -> Layers:
    b = np.zeros(W.shape[1]) if bias is None else np.broadcast_to(np.ravel(bias), W.shape[1]).astype(np.float64)
    last = (W.astype(np.float64),), (b,), (False,)
    if isinstance(x, Layers):
        return Layers(x.source, x.weights + last[0], x.biases + last[1], x.bent + last[2], x.double)
    return Layers(_cells(x), *last, double=W.dtype == np.float64)


def _add(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    x, c = (given[1], given[0]) if isinstance(given[0], Constant) else (given[0], given[1])
    if isinstance(x, Layers) and not x.bent[-1]:
        b = x.biases[-1] + np.broadcast_to(_constant(c).ravel(), x.width)
        return replace(x, biases=(*x.biases[:-1], b))
    _constant(c)
    return _alike([x], attributes, name)


def _with_constant(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    """Sub, Mul or Div of columns and a constant; or 1 less a score."""
    if isinstance(given[0], Constant) and isinstance(given[1], Scores) and attributes["op"] == "Sub":
        if not (given[0].value == 1.0).all():
            raise NotUnderstood("it takes scores from a number that is not 1")
        return replace(given[1], columns=tuple(~c for c in given[1].columns))
    if isinstance(given[1], Constant):
        return _alike(given, attributes, name)
    if isinstance(given[0], Constant):
        return _alike(given[1:], attributes, name)
    raise NotUnderstood(f"its operator {attributes['op']} joins two columns")


def _relu(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    if isinstance(given[0], Layers):
        return replace(given[0], bent=(*given[0].bent[:-1], True))
    return _alike(given, attributes, name)


def _sigmoid(given: Sequence[Given], attributes: Attributes, name: str) -> Given:
    x = given[0]
    if not isinstance(x, Layers):
        return _alike(given, attributes, name)
    if x.width != 1 or x.bent[-1]:
        raise NotUnderstood("its last layer gives several logistic functions")
    return Scores(x.source, (x,), logistic=True, columns=(0,))


def _softmax(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    x = given[0]
    if not isinstance(x, Layers) or x.width != 2 or x.bent[-1] or attributes.get("axis", -1) not in {1, -1}:
        raise NotUnderstood("its softmax is not over two classes")
    return Scores(x.source, (x,), logistic=True)


def _linear(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    cells = _cells(given[0])
    W = np.asarray(attributes["coefficients"], dtype=np.float32).reshape(-1, len(cells.trace)).T
    b = np.asarray(attributes.get("intercepts", np.zeros(W.shape[1])), dtype=np.float32)
    x, post = _affine(cells, W, b), attributes.get("post_transform", b"NONE")
    if post == b"SOFTMAX" and x.width == 2:
        return Scores(cells, (x,), logistic=True)
    opposite = x.width == 2 and np.array_equal(W[:, 0], -W[:, 1]) and b[0] == -b[1]
    if post != b"LOGISTIC" or not (x.width == 1 or opposite):
        raise NotUnderstood("its LinearClassifier gives no logistic function of one margin")
    last = replace(x, weights=(x.weights[0][:, -1:],), biases=(x.biases[0][-1:],))
    return Scores(cells, (last,), logistic=True)


def _trees(given: Sequence[Given], attributes: Attributes, name: str) -> Given:  # noqa: ARG001
    """Nodes and leaves' weights of all trees, in lists; one weight a leaf is that of the second of two classes."""
    cells, at = _cells(given[0]), attributes
    post, ids = at.get("post_transform", b"NONE"), np.asarray(at["class_ids"])
    k = len(at.get("classlabels_int64s") or at["classlabels_strings"])
    binary = k == 2 and len(np.unique(ids)) == 1
    if post not in ({b"NONE", b"LOGISTIC"} if binary else {b"NONE"}):
        raise NotUnderstood(f"its trees' sums go through {post.decode()}")
    base = np.asarray(at.get("base_values") or np.zeros(k), dtype=np.float64)
    classes = [int(ids[0])] if binary else range(k)
    forms = tuple(_forest(at, ids == c, float(base[-1 if binary else c]), cells.double) for c in classes)
    return Scores(cells, forms, post == b"LOGISTIC", (~0, 0) if binary else tuple(range(k)))


def _forest(at: Attributes, mine: NDArray[np.bool_], base: float, double: bool) -> Ensemble:
    """The sum of the weights of some leaves: x is compared as it comes, a threshold is float32."""
    tree, node = np.asarray(at["nodes_treeids"]), np.asarray(at["nodes_nodeids"])
    modes = np.array(at["nodes_modes"])
    leaf = modes == b"LEAF"
    kinds = set(modes[~leaf].tolist())
    if not (kinds <= {b"BRANCH_LEQ"} or kinds <= {b"BRANCH_LT"}):
        raise NotUnderstood(f"its trees compare by {b', '.join(sorted(kinds)).decode()}")
    order = np.lexsort((node, tree))
    trees = []
    weights = {
        (t, i): w
        for t, i, w, m in zip(at["class_treeids"], at["class_nodeids"], at["class_weights"], mine, strict=True)
        if m
    }
    tracks = np.asarray(at.get("nodes_missing_value_tracks_true") or np.zeros(len(node)), dtype=bool)
    for t in np.unique(tree):
        here = order[tree[order] == t]
        place = {int(i): n for n, i in enumerate(node[here])}

        def child(name: str, here: Any = here, place: Any = place) -> NDArray[np.int64]:
            return np.array([-1 if leaf[i] else place[at[name][i]] for i in here])

        trees.append(
            {
                "left": child("nodes_truenodeids"),
                "right": child("nodes_falsenodeids"),
                "column": np.where(leaf[here], 0, np.asarray(at["nodes_featureids"])[here]),
                "threshold": np.where(leaf[here], 0.0, np.asarray(at["nodes_values"], dtype=np.float32)[here]),
                "value": np.array([weights.get((int(t), int(i)), 0.0) for i in node[here]], dtype=np.float64),
                "missing_left": tracks[here],
            }
        )
    return Ensemble.from_trees(trees, strict=kinds == {b"BRANCH_LT"}, float32=not double, base=base)


def _cells(given: Given) -> Cells:
    if not isinstance(given, Cells):
        raise NotUnderstood("an operator that works on columns comes after the layers of the model")
    return given


def _constant(given: Given) -> NDArray[Any]:
    if not isinstance(given, Constant):
        raise NotUnderstood("it multiplies or adds columns that depend on different features")
    return given.value


RULES: dict[str, Callable[[Sequence[Given], Attributes, str], Given]] = {
    "Identity": _same,
    "Cast": _cast,
    "Reshape": _same,
    "Flatten": _same,
    "Squeeze": _same,
    "Dropout": _same,
    "ZipMap": _same,
    "Normalizer": _shares,
    "Scaler": _scaler,
    "Imputer": _imputer,
    "OneHotEncoder": _onehot,
    "ArrayFeatureExtractor": _picked,
    "Gather": _picked,
    "Concat": _concat,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Add": _add,
    "Sub": _with_constant,
    "Mul": _with_constant,
    "Div": _with_constant,
    "Relu": _relu,
    "Sigmoid": _sigmoid,
    "Softmax": _softmax,
    "LinearClassifier": _linear,
    "TreeEnsembleClassifier": _trees,
}
