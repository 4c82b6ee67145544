"""Pairs drawn from models whose causal direction is known, or known not to be there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dueto.datasets.pairs import Pair
from dueto.errors import InputError, some
from dueto.options import whole
from dueto.seeds import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[np.float64]

__all__ = ["FAMILIES", "simulate"]


def simulate(family: str, n: int, *, rng: np.random.Generator | int | None = None, noise: float = 1.0) -> Pair:
    """n rows drawn from a model whose causal direction is known, or known not to be there.

    With s for `noise`, the families are:

    - `cubic`: y = x³ + s e, x from U(-1, 1), e from Exp(1) - 1; the example of [1]_, where s = 1;
    - `additive`: y = f(x) + s e;
    - `location-scale`: y = f(x) + s g(x) e, g = exp(f') / its root mean square over the rows;
    - `post-nonlinear`: y = h(f(x) + s e), h(u) = sinh(a + b arsinh(u)), which increases: a from U(-1, 1), b 1/2 or 2;
    - `linear-gaussian`: y = x + s e or y = -x + s e, x and e from N(0, 1). x is the cause, and the truth is "->", but
      no method can tell: the model with y as the cause fits as well;
    - `confounded`: x = f(z) + s d, y = f'(z) + s e, z not seen. The truth is "?";
    - `independent`: y = s e. The truth is "?".

    Unless said otherwise, x and z are from a mixture of three Gaussians, with centres from N(0, 2²), deviations from
    U(0.2, 1) and shares from the flat Dirichlet law; d and e are uniform, Laplace or exponential, by chance, with mean
    0 and standard deviation 1; f and f' are sums of five sigmoids, Σ a tanh(b (x - c) / sd(x)), with a from N(0, 1), b
    from U(1/2, 2) and c the x of a row, scaled to mean 0 and standard deviation 1 over the rows. Such an f is sometimes
    close to linear. All are drawn anew in each call and independently of each other.

    Parameters
    ----------
    family : str
        One of the above.
    n : int
        How many rows, at least 2.
    rng : numpy Generator or int, optional
        A generator or a seed; without it, every call differs. `additive`, `location-scale` and `post-nonlinear` draw
        the same x, f and e from the same seed, and `noise` changes no draw.
    noise : float
        The standard deviation of the noise, from 0. That of f(x) is 1, that of x³ in `cubic` 0.38.

    Returns
    -------
    Pair
        With weight 1; x is the cause wherever there is one.

    Raises
    ------
    InputError
        If no family is called so, n is below 2, or `noise` is negative or not finite.
    TypeError
        If n is no whole number.

    References
    ----------
    .. [1] M. Yamada, M. Sugiyama and J. Sese, "Least-Squares Independence Regression for Non-Linear Causal Inference
       under Non-Gaussian Noise", Machine Learning 96, 2014. The model is rebuilt: the paper does not give its formula.

    Examples
    --------
    >>> from dueto.datasets import simulate
    >>> simulate("cubic", 300, rng=0)
    <Pair cubic: x -> y, 300 rows>
    >>> simulate("confounded", 300, rng=0).truth
    '?'
    """
    if family not in FAMILIES:
        raise InputError(f"no family is called {family!r}; there are {some(FAMILIES)}")
    whole("n", n, 2, what="the number of rows")
    if not 0 <= noise < np.inf:
        raise InputError(f"noise must be a number from 0, got {noise}")
    draw, truth = FAMILIES[family]
    x, y = draw(int(n), generator(rng), noise)
    return Pair(family, x, y, truth, source="simulated")


def _cubic(n: int, rng: np.random.Generator, s: float) -> tuple[Vector, Vector]:
    x, e = rng.uniform(-1, 1, n), rng.exponential(size=n) - 1
    return x, x**3 + s * e


def _additive(n: int, rng: np.random.Generator, s: float) -> tuple[Vector, Vector]:
    x, f, e = _parts(n, rng)
    return x, f + s * e


def _location_scale(n: int, rng: np.random.Generator, s: float) -> tuple[Vector, Vector]:
    x, f, e = _parts(n, rng)
    g = np.exp(_smooth(x, rng))
    return x, f + s * g / np.sqrt(np.mean(g**2)) * e


def _post_nonlinear(n: int, rng: np.random.Generator, s: float) -> tuple[Vector, Vector]:
    x, f, e = _parts(n, rng)
    a, b = rng.uniform(-1, 1), rng.choice([0.5, 2])
    return x, np.sinh(a + b * np.arcsinh(f + s * e))


def _linear_gaussian(n: int, rng: np.random.Generator, s: float) -> tuple[Vector, Vector]:
    x, e = rng.normal(size=(2, n))
    return x, rng.choice([-1, 1]) * x + s * e


def _confounded(n: int, rng: np.random.Generator, s: float) -> tuple[Vector, Vector]:
    z, f, d = _parts(n, rng)
    return f + s * d, _smooth(z, rng) + s * _standard_noise(n, rng)


def _independent(n: int, rng: np.random.Generator, s: float) -> tuple[Vector, Vector]:
    x, _, e = _parts(n, rng)
    return x, s * e


FAMILIES = {
    "cubic": (_cubic, "->"),
    "additive": (_additive, "->"),
    "location-scale": (_location_scale, "->"),
    "post-nonlinear": (_post_nonlinear, "->"),
    "linear-gaussian": (_linear_gaussian, "->"),
    "confounded": (_confounded, "?"),
    "independent": (_independent, "?"),
}


def _parts(n: int, rng: np.random.Generator) -> tuple[Vector, Vector, Vector]:
    """x, f(x) and e."""
    centres, deviations, shares = rng.normal(0, 2, 3), rng.uniform(0.2, 1, 3), rng.dirichlet(np.ones(3))
    component = rng.choice(3, n, p=shares)
    x = rng.normal(centres[component], deviations[component])
    return x, _smooth(x, rng), _standard_noise(n, rng)


def _smooth(x: Vector, rng: np.random.Generator) -> Vector:
    """A random sum of sigmoids at x, of mean 0 and standard deviation 1."""
    a, b, c = rng.normal(size=5), rng.uniform(0.5, 2, 5), rng.choice(x, 5)
    f = np.tanh(b * (x[:, None] - c) / x.std()) @ a
    return np.asarray((f - f.mean()) / f.std())


def _standard_noise(n: int, rng: np.random.Generator) -> Vector:
    """Noise of mean 0 and standard deviation 1, of a law drawn from three."""
    match rng.integers(3):
        case 0:
            return rng.uniform(-np.sqrt(3), np.sqrt(3), n)
        case 1:
            return rng.laplace(0, np.sqrt(0.5), n)
        case _:
            return rng.exponential(size=n) - 1
