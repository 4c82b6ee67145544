"""Pipelines folded away: which feature each column is a function of, after encoders, imputers and scalers.

The numbers are always those of the fitted transformers themselves, called on decoded tables: only what depends on what
is worked out here, and only for transformers that are known to work column by column.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.models.lookup import NotUnderstood, attribute, known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from dueto.models.inputs import Inputs

__all__ = ["INSIDE", "Trace", "folded", "innermost", "traced"]


@dataclass(frozen=True, eq=False)
class Trace:
    """For each column of a table: the feature that it is a function of; whether it rises (1) or falls (-1) with it."""

    owner: NDArray[np.intp]
    monotone: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.owner)

    def picked(self, positions: Any) -> Trace:
        return Trace(self.owner[positions], self.monotone[positions])

    def spread(self, widths: Any) -> Trace:
        """Each column made several, by which no order is known."""
        owner = np.repeat(self.owner, widths)
        return Trace(owner, np.zeros(len(owner), dtype=np.int8))

    @classmethod
    def joined(cls, parts: Iterable[Trace]) -> Trace:
        listed = list(parts)
        owner = np.concatenate([np.empty(0, dtype=np.intp), *(part.owner for part in listed)])
        return cls(owner, np.concatenate([np.empty(0, dtype=np.int8), *(part.monotone for part in listed)]))


def folded(obj: Any, inputs: Inputs) -> tuple[Any, Inputs]:
    """The innermost estimator of a pipeline or a search, and what it is given.

    Raises
    ------
    NotUnderstood
        If a step mixes columns, or is not known not to.
    """
    inner = known(obj, INSIDE)
    if inner is not None:
        return folded(attribute(obj, inner), inputs)
    if not known(obj, {"sklearn.Pipeline": True}):
        return obj, inputs
    for name, step in obj.steps[:-1]:
        if _passes(step):
            continue
        trace = traced(step, Trace(inputs.owner, inputs.monotone), name)
        inputs = inputs.then(step.transform, trace.owner, trace.monotone)
    return folded(obj.steps[-1][1], inputs)


def innermost(obj: Any) -> Any:
    """The estimator that is given the raw columns themselves; a pipeline, if one of its steps changes them."""
    inner = known(obj, INSIDE, ())
    if inner is not None:
        return innermost(attribute(obj, inner))
    if known(obj, {"sklearn.Pipeline": True}, ()) and all(_passes(step) for _, step in obj.steps[:-1]):
        return innermost(obj.steps[-1][1])
    return obj


def traced(transformer: Any, trace: Trace, name: str) -> Trace:
    """What a fitted transformer makes of columns."""
    if _passes(transformer):
        return trace
    rule = known(transformer, RULES, ("transform",))
    if rule is None:
        raise NotUnderstood(
            f"the step {name!r}, {type(transformer).__name__}, is not known to work on each column for itself"
        )
    width = attribute(transformer, "n_features_in_")
    if width is not None and width != len(trace):
        raise NotUnderstood(f"the step {name!r} takes {width} columns, and {len(trace)} come to it")
    found: Trace = rule(transformer, trace, name)
    return found


def _passes(step: Any) -> bool:
    return step is None or (isinstance(step, str) and step == "passthrough")


# -- one rule a transformer: (transformer, trace, name) -> trace ------------------------------------------------------


def _alike(_: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    """A number for a number; an order may be kept, but rounding could break it."""
    return replace(trace, monotone=np.zeros_like(trace.monotone))


def _scaled(transformer: Any, trace: Trace, name: str) -> Trace:
    """x less a constant, times or over a positive one: each operation, rounded, never falls."""
    scale = attribute(transformer, "scale_")
    return trace if scale is None or (np.asarray(scale) > 0).all() else _alike(transformer, trace, name)


def _rising(_: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    return trace


def _binned(transformer: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    return trace if transformer.encode == "ordinal" else trace.spread(transformer.n_bins_)


def _onehot(encoder: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    rare = attribute(encoder, "infrequent_categories_") or [None] * len(trace)
    dropped = [None] * len(trace) if encoder.drop_idx_ is None else encoder.drop_idx_
    return trace.spread(
        [
            len(categories) - max(0, 0 if few is None else len(few) - 1) - (gone is not None)
            for categories, few, gone in zip(encoder.categories_, rare, dropped, strict=True)
        ]
    )


def _target(encoder: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    return trace.spread(len(encoder.encodings_) // len(trace))


def _imputed(imputer: Any, trace: Trace, name: str) -> Trace:
    """Numbers that are not missing stay; columns of which nothing is known may go; indicators come after."""
    kept = trace if _is_nan(imputer.missing_values) else _alike(imputer, trace, name)
    if imputer.strategy != "constant" and not imputer.keep_empty_features:
        kept = kept.picked(np.array([not _is_nan(value) for value in imputer.statistics_], dtype=np.bool_))
    if imputer.indicator_ is None:
        return kept
    return Trace.joined([kept, _indicated(imputer.indicator_, trace, name)])


def _indicated(indicator: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    return trace.picked(indicator.features_).spread(1)


def _splines(transformer: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    return trace.spread(transformer.n_features_out_ // len(trace))


def _selected(selector: Any, trace: Trace, name: str) -> Trace:  # noqa: ARG001
    return trace.picked(selector.get_support(indices=True))


def _function(transformer: Any, trace: Trace, name: str) -> Trace:
    """No function at all, or a function of NumPy that takes a number and gives one."""
    function = transformer.func
    if function is None:
        return trace
    if not isinstance(function, np.ufunc) or (function.nin, function.nout) != (1, 1) or transformer.kw_args:
        raise NotUnderstood(f"the step {name!r} calls a function that is not known to work on each column for itself")
    return trace if function in STEADY else _alike(transformer, trace, name)


def _pipeline(pipeline: Any, trace: Trace, name: str) -> Trace:
    for inner, step in pipeline.steps:
        trace = traced(step, trace, f"{name}, {inner}")
    return trace


def _union(union: Any, trace: Trace, name: str) -> Trace:
    parts = [(inner, part) for inner, part in union.transformer_list if part != "drop"]
    return Trace.joined(traced(part, trace, f"{name}, {inner}") for inner, part in parts)


def _column_transformer(transformer: Any, trace: Trace, name: str) -> Trace:
    """Each part's columns go where `output_indices_` says; the transformer knows where its inputs stand."""
    inputs: dict[str, Sequence[int]] = transformer._transformer_to_input_indices
    parts: list[tuple[int, Trace]] = []
    for inner, part, _ in transformer.transformers_:
        place = transformer.output_indices_[inner]
        if place.stop == place.start:
            continue
        found = traced(part, trace.picked(list(inputs[inner])), f"{name}, {inner}")
        if len(found) != place.stop - place.start:
            raise NotUnderstood(
                f"the step '{name}, {inner}' makes {place.stop - place.start} columns, not {len(found)}"
            )
        parts.append((place.start, found))
    return Trace.joined(part for _, part in sorted(parts, key=lambda part: part[0]))


def _is_nan(value: Any) -> bool:
    import pandas as pd

    return bool(pd.isna(value))


STEADY = {np.positive, np.rint, np.floor, np.ceil, np.trunc, np.sign}  # exact, so that they never fall
INSIDE = {
    "sklearn.GridSearchCV": "best_estimator_",
    "sklearn.RandomizedSearchCV": "best_estimator_",
    "sklearn.HalvingGridSearchCV": "best_estimator_",
    "sklearn.HalvingRandomSearchCV": "best_estimator_",
    "sklearn.FrozenEstimator": "estimator",
    "sklearn.FixedThresholdClassifier": "estimator_",
    "sklearn.TunedThresholdClassifierCV": "estimator_",
}
RULES: dict[str, Callable[[Any, Trace, str], Trace]] = {
    "sklearn.StandardScaler": _scaled,
    "sklearn.MinMaxScaler": _scaled,
    "sklearn.MaxAbsScaler": _scaled,
    "sklearn.RobustScaler": _scaled,
    "sklearn.QuantileTransformer": _alike,
    "sklearn.PowerTransformer": _alike,
    "sklearn.OrdinalEncoder": _alike,
    "sklearn.Binarizer": _rising,
    "sklearn.KBinsDiscretizer": _binned,
    "sklearn.OneHotEncoder": _onehot,
    "sklearn.TargetEncoder": _target,
    "sklearn.SimpleImputer": _imputed,
    "sklearn.MissingIndicator": _indicated,
    "sklearn.SplineTransformer": _splines,
    "sklearn.SelectorMixin": _selected,
    "sklearn.FunctionTransformer": _function,
    "sklearn.Pipeline": _pipeline,
    "sklearn.FeatureUnion": _union,
    "sklearn.ColumnTransformer": _column_transformer,
}
