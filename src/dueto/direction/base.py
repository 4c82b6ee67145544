"""What two columns say about which of them is due to the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from dueto.direction.decide import Arrow, Evidence
    from dueto.inference import TestResult

__all__ = ["Direction"]


@dataclass(frozen=True, eq=False)
class Direction:
    """What two columns say about which of them is due to the other.

    Attributes
    ----------
    arrow : "->", "<-" or "?"
        x causes y, y causes x, or no answer. `?` is an answer: see `reason`.
    reason : str
        Why, in a sentence.
    forward, backward : TestResult or None
        Is the residual of y on x independent of x? And that of x on y, of y? None if not tested.
    related : TestResult or None
        Are x and y independent to begin with?
    evidence : Evidence
        All that the decision rests on.
    x, y : (n,) float
        The pairs used, in the order given.
    fits : (regressor, regressor)
        Of y on x, and of x on y.
    seconds : float
        How long it took.
    settings : mapping
        How it was asked: `regressor`, `measure`, `n_permutations`, `reject`, `accept` and the other options; `seed`,
        None if a generator was given; `rows`, how many pairs there were before `max_rows` of them were drawn.
    """

    arrow: Arrow
    reason: str
    forward: TestResult | None
    backward: TestResult | None
    related: TestResult | None
    evidence: Evidence
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    fits: tuple[Any, Any]
    seconds: float
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, str]:
        """What x and y are called."""
        return self.evidence.names

    @property
    def smi(self) -> tuple[float, float]:
        """Squared-loss mutual information of input and residual, forward and backward.

        The smaller the better: near 0 if they are independent, sometimes a little below.
        """
        return self.evidence.smi

    @property
    def n(self) -> int:
        """How many pairs were used."""
        return self.evidence.n

    @property
    def residuals(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Of y on x, and of x on y: (n,) each."""
        forward, backward = self.fits
        return self.y - forward.predict(self.x[:, None]), self.x - backward.predict(self.y[:, None])

    def __repr__(self) -> str:
        return f"<Direction {self.names[0]} {self.arrow} {self.names[1]}: {self.reason}>"

    def __str__(self) -> str:
        a, b = self.names
        lines = [f"{a} {self.arrow} {b}", f"  {self.reason}", ""]
        ways = [(f"{a} -> {b}", self.forward, self.smi[0]), (f"{b} -> {a}", self.backward, self.smi[1])]
        wide = max(len(way) for way, _, _ in ways)
        for way, test, smi in ways:
            p = f"p = {test.pvalue:.3g} ± {test.stderr:.1g}, " if test else ""
            lines.append(f"  {way:{wide}}   residual against input: {p}SMI = {smi:.4f}")
        if self.related:
            lines.append(f"  {a} and {b} independent of each other: p = {self.related.pvalue:.3g}")
        return "\n".join([*lines, f"  {self.n:,} pairs, {self.seconds:.2g} s"])

    def to_dict(self) -> dict[str, Any]:
        """All but the data and the fits, as plain data."""
        tests = {name: getattr(self, name) for name in ("forward", "backward", "related")}
        return {
            "names": list(self.names),
            "arrow": self.arrow,
            "reason": self.reason,
            **{name: test and test.to_dict() for name, test in tests.items()},
            "smi": {"forward": self.smi[0], "backward": self.smi[1]},
            "n": self.n,
            "seconds": self.seconds,
        }

    @overload
    def to_html(self, path: None = None) -> str: ...

    @overload
    def to_html(self, path: str | Path) -> None: ...

    def to_html(self, path: str | Path | None = None) -> str | None:
        """A page that needs nothing else: the verdict and its reason, fits, residuals, tests, and how it was found.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it; a file that is there is replaced. Without a path, the text is returned.

        Returns
        -------
        str or None
            The page, as HTML, if no path is given. The same each time.

        Raises
        ------
        InputError
            If matplotlib is missing, or the file cannot be written.

        Notes
        -----
        Of more than 3,000 points, 3,000 are drawn, chosen by chance.

        Examples
        --------
        >>> import dueto
        >>> pair = dueto.datasets.simulate("cubic", 100, rng=0)
        >>> page = dueto.direction(pair.x, pair.y, names=("dose", "effect")).to_html()
        >>> page.startswith("<!DOCTYPE html>"), "<title>dose" in page
        (True, True)
        """
        from dueto.plots.pages import pair_pictures
        from dueto.report.page import saved
        from dueto.report.pairs import pair_page

        told = self.to_dict() | {"settings": dict(self.settings), "fits": [_fitted(fit) for fit in self.fits]}
        return saved(pair_page(told, pair_pictures(self)), path)

    def _repr_html_(self) -> str | None:
        """The page in a frame, for a notebook; None where matplotlib is missing."""
        from dueto.report.page import framed

        return framed(self.to_html, f"{self.names[0]} and {self.names[1]}")


def _fitted(fit: Any) -> dict[str, Any]:
    """What a regressor chose by itself, where it says so."""
    names = {"width": "width_", "penalty": "penalty_", "converged": "converged_"}
    found = {name: getattr(fit, attribute, None) for name, attribute in names.items()}
    return {name: None if v is None else bool(v) if name == "converged" else float(v) for name, v in found.items()}
