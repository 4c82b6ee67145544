"""All that a page needs to say what the model would decide, without the model."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.distance import parts, steps
from dueto.errors import InputError
from dueto.plaf import Ref, Together, walk
from dueto.report.whatif import packed
from dueto.report.whatif.conditions import condition
from dueto.report.whatif.controls import Control, controls_of, name, texts
from dueto.report.whatif.forms import form_of
from dueto.report.whatif.grid import grid_of, moved
from dueto.report.words import directed, outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from dueto.distance import Distance
    from dueto.models import Model
    from dueto.models.structure import Structure
    from dueto.plaf import Expr
    from dueto.space import FeatureSpace

__all__ = ["offline"]

LIVE = 200  # values that a control offers
GRIDS = ((60, True), (60, False), (20, False))  # and where each is scored beforehand, with pairs or without
NONE = "There is no what-if"
DOUBTFUL = 20_000  # rows that are looked at to find those that only the model can tell


def offline(
    model: Model,
    space: FeatureSpace,
    constraints: Iterable[Expr],
    x: NDArray[np.float64],
    distance: Distance | None = None,
    *,
    proposals: Sequence[Mapping[str, Any]] = (),
    ordinary: tuple[str, Structure] | None = None,
    limit: int = 2_000_000,
) -> dict[str, Any] | str:
    """The model around an applicant as plain data, for the template `whatif.html`.

    Parameters
    ----------
    model : Model
        If its structure is known and small enough, the page evaluates it: every combination of values that is offered
        gets the model's decision, or "too close to call" where rounding could turn it. Else the page knows a grid: what
        the model gives when one feature moves, when two of a few do, and for the proposals.
    space : FeatureSpace
        What can be; `query.space`, if constraints tie features together.
    constraints : iterable of Expr
        Values that those on one feature forbid are not offered; the page lists those that a combination breaks.
    x : (n,) float64
        The encoded applicant.
    distance : Distance, optional
        If given, the page shows the cost of what is changed.
    proposals : sequence of mappings
        Changes that a page offers at once: for each feature that changes, its label or number, None for missing.
    ordinary : (sentence, Structure), optional
        One more constraint: the margin of `query.plausibility` must exceed its cut.
    limit : int
        Characters of JSON that the data may take.

    Returns
    -------
    dict or str
        Where there can be no what-if, a sentence that says why: nothing may move; the model fails on rows to score; or
        even a coarse grid is too large. Where nothing that may move makes a difference, the sentence as `none`, with
        the `controls` that tell what stays.

    Raises
    ------
    InputError
        If a constraint or a proposal does not fit the space.

    Examples
    --------
    >>> import pandas as pd
    >>> from dueto import FeatureSpace, cf, x
    >>> from dueto.models import as_model
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> frame = pd.DataFrame({"age": [25, 40, 61, 70], "debt": [3, 2, 1, 1]})
    >>> space = FeatureSpace.infer(frame)
    >>> model = as_model(DecisionTreeClassifier().fit(frame, [0, 0, 1, 1]), space)
    >>> found = offline(model, space, [cf.age >= x.age], space.encode(frame)[1])
    >>> found["controls"][0]["texts"], found["model"]["kind"]
    (['40', '61', '70'], 'trees')
    """
    rows = np.repeat(x[None], 1 + len(proposals), axis=0)
    for row, proposal in zip(rows[1:], proposals, strict=True):
        for feature, value in proposal.items():
            j = space.index(feature)
            row[j] = space.features[j].code(value)
    page = _Page(model, space, tuple(constraints), rows, distance, ordinary, limit)
    try:
        return page.live() or page.grid()
    except _NoWhatIf as why:
        return f"{NONE}: {why}."


class _NoWhatIf(Exception):
    """Why there can be none, as the end of a sentence."""


@dataclass(frozen=True, eq=False)
class _Page:
    """One applicant's page: what is the same whether the model is evaluated in it or not."""

    model: Model
    space: FeatureSpace
    constraints: tuple[Expr, ...]
    rows: NDArray[np.float64]  # the applicant, then each proposal
    distance: Distance | None
    ordinary: tuple[str, Structure] | None
    limit: int

    @property
    def x(self) -> NDArray[np.float64]:
        return np.asarray(self.rows[0])

    def live(self) -> dict[str, Any] | None:
        """The page that evaluates the model; None if it has no structure, or too large a one."""
        controls = self.controls(LIVE)
        structure = self.model.structure
        if structure is None:
            return None
        form = form_of(structure, controls, room=self.limit)
        if form is None:
            return None
        try:
            asked = self.rows if form["exact"] else np.vstack([self.rows, self.doubtful(structure, controls)])
            return self.whole(controls, form, asked)
        except InputError:  # a row that the model cannot score
            return None

    def grid(self) -> dict[str, Any]:
        """The page that knows what was scored beforehand."""
        for most, pairs in GRIDS:
            controls = self.controls(most)
            try:
                form = grid_of(self.model, controls, self.rows, pairs=pairs)
                found = self.whole(controls, form, self.rows)
            except InputError as problem:
                raise _NoWhatIf(f"not everybody that it would show can be scored ({problem})") from None
            if found is not None:
                return found
        raise _NoWhatIf(f"it would take more than {self.limit:,} characters")

    def controls(self, most: int) -> list[Control]:
        found = controls_of(self.space, self.constraints, self.x, self.rows, most=most)
        if all(len(control) == 1 for control in found):
            raise _NoWhatIf("the constraints and the data leave every feature the value that it has")
        return found

    def doubtful(self, structure: Structure, controls: Sequence[Control]) -> NDArray[np.float64]:
        """Rows where one control is moved and rounding leaves the decision in doubt: the model is to tell them."""
        found = [np.empty((0, len(self.x)))]
        if sum(map(len, controls)) <= DOUBTFUL:
            for control in controls:
                X = moved(self.x, [control])
                found.append(X[structure.side(structure.margin(X)) == 0])
        return np.vstack(found)

    def whole(
        self, controls: Sequence[Control], form: dict[str, Any], asked: NDArray[np.float64]
    ) -> dict[str, Any] | None:
        """Everything; None if it is larger than may be. `asked` are rows to settle by the model itself."""
        tests = [
            (constraint, condition(constraint, self.space, self.x))
            for constraint in self.constraints
            if not isinstance(constraint, Together)
        ]
        compared = {self.space.index(n) for c, _ in tests for e in walk(c) for n in _names(e)}
        told = [self.control(control, compared) for control in controls]
        for u in form.get("idle", ()):
            told[u]["idle"] = True
            told[u]["shown"] &= self.ordinary is not None or bool(compared & set(controls[u].members))
        if not any(control["shown"] for control in told):
            what = "the constraints let change" if self.constraints else "is changed"
            none = f"{NONE}: the model decides the same whatever {what}."
            return {"none": none, "controls": told}
        found = {
            "outcome": outcome(self.model.desired),
            "threshold": self.model.threshold,
            "controls": told,
            "features": len(self.space),
            "constrained": bool(self.constraints),
            "model": form,
            "conditions": [
                *({"sentence": directed(c.sentence()), "test": test} for c, test in tests),
                *self.form(controls),
            ],
            "proposals": [packed.whole(control.place(row) for control in controls) for row in self.rows[1:]],
            "known": [
                {"at": packed.whole(control.place(row) for control in controls), "score": score}
                for row, score in zip(asked, self.model.score(asked).tolist(), strict=True)
            ],
            "weights": None if self.distance is None else [float(w) for w in self.distance.weights],
        }
        return found if len(json.dumps(found)) <= self.limit else None

    def form(self, controls: Sequence[Control]) -> list[dict[str, Any]]:
        """How ordinary the whole must be, as one more condition; not checked in a page that it is too large for."""
        if self.ordinary is None:
            return []
        sentence, structure = self.ordinary
        form = form_of(structure, controls, room=self.limit // 2)
        return [] if form is None else [{"sentence": directed(sentence), "form": form}]

    def control(self, control: Control, compared: set[int]) -> dict[str, Any]:
        """A control as plain data; its numbers only where a constraint compares them, its steps if they cost.

        It is `shown` unless it is fixed, or `idle`, that is makes no difference to the model, nor to any constraint.
        """
        columns = [i for i in control.members if i in compared]
        found: dict[str, Any] = {
            "name": name(control, self.space),
            "kind": control.kind,
            "texts": texts(control, self.space),
            "own": control.own,
            "missing": control.missing,
            "idle": False,
            "shown": control.kind != "fixed",
            "why": list(control.why),
            "allowed": control.allowed if np.isfinite(control.allowed) else None,
            "numbers": {str(i): packed.floats(control.of(i)) for i in columns},
        }
        if self.distance is not None and len(control) > 1:
            X = np.repeat(self.x[None], len(control), axis=0)
            X[:, list(control.members)] = control.values
            moves = parts(steps(self.space, self.x, X))
            found["steps"] = packed.floats([[float(f"{v:.7g}") for v in row] for row in moves.tolist()])
        return found


def _names(expr: Expr) -> tuple[str, ...]:
    """The features whose proposed values a node names itself."""
    if isinstance(expr, Ref):
        return (expr.name,) if expr.side == "cf" else ()
    return tuple(getattr(expr, "names", ()))
