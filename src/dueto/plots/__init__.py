"""Pictures of what was found. Needs matplotlib, the extra `plots`, which is imported when something is drawn."""

from __future__ import annotations

from dueto.plots.directions import plot_direction, plot_fits, plot_residuals
from dueto.plots.pvalues import plot_null, plot_pvalues

__all__ = ["plot_direction", "plot_fits", "plot_null", "plot_pvalues", "plot_residuals"]
