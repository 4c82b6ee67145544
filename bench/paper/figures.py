"""The two kinds of figure that the experiments draw: stacked bars and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

COLOURS = ("#2a7f62", "#7fb89a", "#c9a227", "#b8543f", "#7a7a7a", "#4a6fa5", "#9a6fb0", "#333333")


def bars(path: Path, rows: list[dict[str, Any]], panel: str, name: str, parts: list[str], label: str) -> None:
    """One panel for each value of `panel`, in it one stacked bar for each `name`, made of `parts`."""
    import matplotlib.pyplot as plt

    panels = list(dict.fromkeys(row[panel] for row in rows))
    if not panels:
        return
    fig, axes = plt.subplots(1, len(panels), figsize=(3.4 * len(panels), 3.8), sharey=True, squeeze=False)
    for ax, value in zip(axes[0], panels, strict=True):
        part = [row for row in rows if row[panel] == value]
        below = [0.0] * len(part)
        for key, colour in zip(parts, COLOURS, strict=False):
            heights = [row[key] or 0.0 for row in part]
            ax.bar([row[name] for row in part], heights, bottom=below, color=colour, label=key.removesuffix(" %"))
            below = [b + h for b, h in zip(below, heights, strict=True)]
        ax.set_title(f"{value} {panel}" if not isinstance(value, str) else value)
        ax.tick_params(axis="x", rotation=90)
        ax.set_ylim(0, 100)
    axes[0][0].set_ylabel(label)
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="upper center", ncols=len(parts), frameon=False)
    fig.tight_layout(rect=(0, 0, 1, 0.92))
    fig.savefig(path, dpi=120)
    plt.close(fig)


def lines(path: Path, rows: list[dict[str, Any]], x: str, name: str, y: str, label: str) -> None:
    """One line for each `name`, `y` against `x`, both logarithmic where they span more than a factor of ten."""
    import matplotlib.pyplot as plt

    fig, ax = plt.subplots(figsize=(7.5, 4))
    for system, colour in zip(dict.fromkeys(row[name] for row in rows), COLOURS, strict=False):
        part = [(row[x], row[y]) for row in rows if row[name] == system and row[y] is not None]
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
