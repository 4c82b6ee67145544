"""Pictures of what was found. Needs matplotlib, the extra `plots`, which is imported when something is drawn."""

from __future__ import annotations

from dueto.plots.directions import plot_direction, plot_fits, plot_residuals
from dueto.plots.graph import plot_graph
from dueto.plots.pvalues import plot_null, plot_pvalues
from dueto.plots.rules import plot_changes, plot_feature, plot_rule
from dueto.plots.runs import plot_categories, plot_run, plot_times

__all__ = [
    "plot_categories",
    "plot_changes",
    "plot_direction",
    "plot_feature",
    "plot_fits",
    "plot_graph",
    "plot_null",
    "plot_pvalues",
    "plot_residuals",
    "plot_rule",
    "plot_run",
    "plot_times",
]
