"""Pictures show what was found, on the axes they are given, and can be drawn whatever the names and the verdict."""

from __future__ import annotations

import subprocess
import sys

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure

from dueto import InputError, direction, independence_test, plots
from dueto.datasets import simulate
from dueto.plots.canvas import POINTS


@pytest.fixture(autouse=True)
def _no_window():
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cubic():
    pair = simulate("cubic", 120, rng=0)
    return direction(pair.x, pair.y, names=("dose", "effect"), n_permutations=99)


@pytest.fixture(scope="module")
def many():
    pair = simulate("cubic", POINTS + 500, rng=0)
    return direction(pair.x, pair.y, fast=True)


def axes():
    return Figure().add_subplot()


def points(ax):
    """What is scattered: (k, 2)."""
    return np.concatenate([np.asarray(one.get_offsets()) for one in ax.collections if isinstance(one, PathCollection)])


DRAWN = {
    "fits": lambda found, ax: plots.plot_fits(found, ax),
    "residuals": lambda found, ax: plots.plot_residuals(found, ax, way="backward"),
    "null": lambda found, ax: plots.plot_null(found.forward, ax),
    "pvalues": lambda found, ax: plots.plot_pvalues([found.forward.pvalue], [found.backward.pvalue], ax),
}


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_drawn_on_the_axes_given_and_leaves_pyplot_alone(cubic, name):
    import matplotlib.pyplot as plt

    ax, before = axes(), plt.get_fignums()
    assert DRAWN[name](cubic, ax) is ax
    assert ax.has_data()
    assert ax.get_xlabel() != "" != ax.get_ylabel()
    assert plt.get_fignums() == before


@pytest.mark.parametrize("name", DRAWN)
def test_without_axes_a_figure_is_made(cubic, name):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    assert DRAWN[name](cubic, None).figure.number not in before


def test_fits_shows_every_point_and_both_regressions(cubic):
    ax = plots.plot_fits(cubic, axes())
    assert sorted(map(tuple, points(ax))) == sorted(zip(cubic.x, cubic.y, strict=True))
    forward, backward = ax.get_lines()
    x, y = forward.get_data()
    np.testing.assert_allclose(y, cubic.fits[0].predict(x[:, None]))
    assert (x.min(), x.max()) == (cubic.x.min(), cubic.x.max())
    x, y = backward.get_data()
    np.testing.assert_allclose(x, cubic.fits[1].predict(y[:, None]))
    assert [line.get_label() for line in (forward, backward)] == ["fit of effect on dose", "fit of dose on effect"]


@pytest.mark.parametrize("name", ["cubic", "many"])
def test_fits_frames_the_points_and_not_a_regression_that_leaves_them(name, request):
    found = request.getfixturevalue(name)
    ax = plots.plot_fits(found, axes())
    for (low, high), values in ((ax.get_xlim(), found.x), (ax.get_ylim(), found.y)):
        span = np.ptp(values)
        assert values.min() - 0.1 * span < low < values.min() < values.max() < high < values.max() + 0.1 * span


@pytest.mark.parametrize("k", [0, 1])
def test_residuals_are_shown_against_their_input_with_the_p_value(cubic, k):
    ax = plots.plot_residuals(cubic, axes(), way=("forward", "backward")[k])
    expected = np.column_stack([(cubic.x, cubic.y)[k], cubic.residuals[k]])
    assert sorted(map(tuple, points(ax))) == sorted(map(tuple, expected))
    way, p = (("dose → effect", cubic.forward.pvalue), ("effect → dose", cubic.backward.pvalue))[k]
    assert ax.get_title() == f"{way}\np = {p:.3g}"


def test_null_counts_every_permutation_and_marks_the_statistic(cubic):
    result = cubic.backward
    ax = plots.plot_null(result, axes())
    assert sum(bar.get_height() for bar in ax.patches) == result.n_permutations
    (mark,) = ax.get_lines()
    assert mark.get_xdata()[0] == result.statistic
    assert ax.get_title() == f"p = {result.pvalue:.3g}, 99 permutations"


def test_pvalues_are_counted_by_the_decision_that_direction_would_take():
    rng = np.random.default_rng(0)
    forward, backward = 10 ** rng.uniform(-3, 0, size=(2, 200))
    ax = plots.plot_pvalues([*forward, np.nan], [*backward, 0.5], axes(), reject=0.02, accept=0.2, names=("a", "b"))
    right = int(((forward > 0.2) & (backward <= 0.02)).sum())
    left = int(((backward > 0.2) & (forward <= 0.02)).sum())
    told = [text.get_text() for text in ax.get_legend().get_texts()]
    assert told == [f"{right} × a → b", f"{left} × a ← b", f"{200 - right - left} × ?"]
    assert sorted(map(tuple, points(ax))) == sorted(zip(forward, backward, strict=True))
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_every_p_value_lies_within_the_axes():
    ax = plots.plot_pvalues([1e-6, 1.0], [1.0, 1e-6], axes())
    assert ax.get_xlim()[0] < 1e-6
    assert ax.get_xlim()[1] > 1
    plots.plot_pvalues([], [], axes())


def test_of_many_points_some_are_drawn_and_all_are_counted(many):
    for ax in (plots.plot_fits(many, axes()), plots.plot_residuals(many, ax=axes())):
        assert len(points(ax)) == POINTS
    ax = plots.plot_pvalues(np.full(POINTS + 5, 0.5), np.full(POINTS + 5, 0.01), axes())
    assert len(points(ax)) == POINTS
    assert ax.get_legend().get_texts()[0].get_text() == f"{POINTS + 5:,} × x → y"


def test_the_page_has_all_of_it_and_the_verdict_as_its_title(cubic):
    figure = plots.plot_direction(cubic)
    assert len(figure.axes) == 5
    assert figure.get_suptitle() == f"dose {cubic.arrow.replace('->', '→').replace('<-', '←')} effect"
    assert figure.axes[0].get_title().replace("\n", " ") == cubic.reason
    titles = [ax.get_title() for ax in figure.axes]
    assert figure.axes[0].get_xlabel() == "dose"
    assert [title.split("p = ")[1].split(",")[0] for title in titles[1:]] == [
        f"{test.pvalue:.3g}" for test in (cubic.forward, cubic.backward) * 2
    ]


def test_without_tests_the_page_has_no_statistics(many):
    figure = plots.plot_direction(many)
    assert len(figure.axes) == 3
    assert f"SMI = {many.smi[1]:.3g}" in figure.axes[2].get_title()
    with pytest.raises(TypeError, match=r"must be a TestResult, got None; with fast=True there are no tests"):
        plots.plot_null(many.forward)


# mathtext would stumble over the dollar signs, and a legend leaves out what begins with an underscore
@pytest.mark.parametrize(
    "names",
    [
        ("$ a_{", "$ b^"),
        ("_x", "_y"),
        ("a\nb", "c " * 80),
        ("GROSS_DOMESTIC_PRODUCT_AMOUNT_2019", "GROSS_DOMESTIC_PRODUCT_AMOUNT_2020"),
        ("", "y"),
        ("<b>", "$\\frac$"),
    ],
)
def test_a_page_can_be_written_whatever_the_names(tmp_path, names):
    rng = np.random.default_rng(0)
    found = direction(*rng.normal(size=(2, 60)), names=names, n_permutations=19)
    assert found.arrow == "?"
    figure = plots.plot_direction(found)
    figure.savefig(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    width, titles = figure.bbox.width, [ax.title.get_window_extent() for ax in figure.axes]
    assert all(box.x0 >= 0 and box.x1 <= width for box in titles)
    assert titles[1].x1 <= titles[2].x0
    assert len(figure.axes[0].get_legend().get_texts()) == 2


@pytest.mark.parametrize(
    ("draw", "says"),
    [
        (lambda found: plots.plot_residuals(found, way="sideways"), "there is no way 'sideways'"),
        (lambda _: plots.plot_pvalues([0.1], [0.1, 0.2]), r"come in pairs: .* got \(1,\) and \(2,\)"),
        (lambda _: plots.plot_pvalues([[0.1]], [[0.1]]), "come in pairs"),
        (lambda _: plots.plot_pvalues([0.0], [0.1]), "above 0 and at most 1"),
        (lambda _: plots.plot_pvalues([1.5], [0.1]), "above 0 and at most 1"),
        (lambda _: plots.plot_pvalues([0.5], [0.1], reject=0.2, accept=0.1), "0 < reject <= accept < 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused_before_a_figure_is_made(cubic, draw, says):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    with pytest.raises(InputError, match=says):
        draw(cubic)
    assert plt.get_fignums() == before


def test_long_names_that_differ_only_at_the_end_stay_different():
    rng = np.random.default_rng(0)
    found = direction(
        *rng.normal(size=(2, 60)), names=("a long name of a column, 2019", "a long name of a column, 2020"), fast=True
    )
    ax = plots.plot_fits(found, axes())
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a long name ...umn, 2019", "a long name ...umn, 2020")


def test_drawing_changes_nothing_of_what_was_found(cubic):
    before = cubic.to_dict(), cubic.x.copy(), cubic.forward.null.copy()
    plots.plot_direction(cubic)
    assert cubic.to_dict() == before[0]
    assert (cubic.x == before[1]).all()
    assert (cubic.forward.null == before[2]).all()


def test_without_matplotlib_the_command_that_installs_it_is_named(cubic, monkeypatch):
    for name in ("matplotlib", "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (*DRAWN.values(), lambda found, _: plots.plot_direction(found)):
        with pytest.raises(InputError, match="need the package matplotlib; run: pip install matplotlib"):
            draw(cubic, None)


def test_matplotlib_is_imported_only_to_draw():
    code = "import sys, dueto; dueto.plots.plot_fits; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_the_statistic_is_called_by_its_measure():
    pair = simulate("cubic", 60, rng=0)
    for measure in ("smi", "hsic"):
        result = independence_test(pair.x, pair.y, measure=measure, n_permutations=19)
        assert measure in plots.plot_null(result, axes()).get_xlabel()
