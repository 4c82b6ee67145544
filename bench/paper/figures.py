"""The two kinds of figure that the experiments draw: stacked bars and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COLOURS = ("#2a7f62", "#7fb89a", "#c9a227", "#b8543f", "#7a7a7a", "#4a6fa5", "#9a6fb0", "#333333")


def bars(path: Path, rows: list[dict[str, Any]], panel: str, name: str, parts: list[str], label: str) -> None:
    """One panel for each value of `panel`, in it one stacked bar for each `name`, made of `parts`."""
    import matplotlib.pyplot as plt

    from dueto.plots import plot_categories

    panels = list(dict.fromkeys(row[panel] for row in rows))
    if not panels:
        return
    size = (3.4 * len(panels), 3.8)
    fig, axes = plt.subplots(1, len(panels), figsize=size, sharey=True, squeeze=False, layout="constrained")
    shown: dict[str, Any] = {}
    for ax, value in zip(axes[0], panels, strict=True):
        counts = {
            row[name]: {key.removesuffix(" %"): row[key] or 0.0 for key in parts} for row in rows if row[panel] == value
        }
        if any(any(row.values()) for row in counts.values()):
            plot_categories(counts, ax, share=False, legend=False)
        shown |= {text: bar for bar, text in zip(*ax.get_legend_handles_labels(), strict=True)}
        ax.set_title(f"{value} {panel}" if not isinstance(value, str) else value)
        for text in ax.get_xticklabels():
            text.set(rotation=90, ha="right", va="center")
        ax.set(ylim=(0, 100), ylabel="")
    axes[0][0].set_ylabel(label)
    fig.legend(list(shown.values()), list(shown), loc="outside upper center", ncols=2 * len(panels), frameon=False)
    fig.savefig(path, dpi=120)
    plt.close(fig)


def lines(path: Path, rows: list[dict[str, Any]], x: str, name: str, y: str, label: str) -> None:
    """One line for each `name`, `y` against `x`, both logarithmic where they span more than a factor of ten."""
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(7.5, 4))
    for system, colour in zip(dict.fromkeys(row[name] for row in rows), COLOURS, strict=False):
        part = [(row[x], row[y]) for row in rows if row[name] == system and row[y] is not None]
        if part:
            ax.plot(*zip(*part, strict=True), "o-", color=colour, label=system)
    for axis, key in (("x", x), ("y", y)):
        values = [row[key] for row in rows if row[key]]
        if values and max(values) > 10 * min(values):
            getattr(ax, f"set_{axis}scale")("log")
    ax.set_xlabel(x)
    ax.set_ylabel(label)
    ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.set_xticks(sorted({row[x] for row in rows}), labels=[f"{v:,}" for v in sorted({row[x] for row in rows})])
    ax.minorticks_off()
    fig.tight_layout()
    fig.savefig(path, dpi=120)
    plt.close(fig)
