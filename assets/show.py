"""What an asset shows of itself in the Dagster UI: row counts and small plots as markdown."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import dagster as dg

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def rows(number: int, **facts: float | int | str | None) -> dict[str, dg.MetadataValue]:
    """`dagster/row_count`, which the UI plots over time, and other facts."""
    shown: dict[str, dg.MetadataValue] = {"dagster/row_count": dg.MetadataValue.int(number)}
    for name, value in facts.items():
        if isinstance(value, str):
            shown[name] = dg.MetadataValue.text(value)
        elif value is not None:
            shown[name] = dg.MetadataValue.float(float(value))
    return shown


def bars(values: Mapping[str, float], title: str, unit: str) -> dg.MetadataValue:
    """A horizontal bar chart, longest first, at most 20 bars."""
    chosen = sorted(values.items(), key=lambda item: (-item[1], item[0]))[:20][::-1]

    def draw(axes: Axes) -> None:
        axes.barh([name for name, _ in chosen], [value for _, value in chosen], color="#3b6ea5")
        axes.set_xlabel(unit)

    return _plot(draw, title, height=1.0 + 0.24 * len(chosen))


def histogram(values: Sequence[float], title: str, unit: str) -> dg.MetadataValue:
    """Distribution of `values`."""

    def draw(axes: Axes) -> None:
        axes.hist(list(values), bins=30, color="#3b6ea5")
        axes.set_xlabel(unit)

    return _plot(draw, title, height=2.4)


def lines(
    series: Mapping[str, tuple[Sequence[Any], Sequence[float]]], title: str, x: str, y: str,
    points: Mapping[str, tuple[float, float]] | None = None,
) -> dg.MetadataValue:  # fmt: skip
    """One line a series of (xs, ys), the first 12 by name, and named points."""

    def draw(axes: Axes) -> None:
        for name in sorted(series)[:12]:
            axes.plot(*series[name], marker=".", label=name)
        for name, (at, height) in sorted((points or {}).items()):
            axes.plot([at], [height], "o", color="#999999")
            axes.annotate(name, (at, height), fontsize=7)
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        if series:
            axes.legend(fontsize=7)

    return _plot(draw, title, height=3.0)


def table(found: Sequence[Mapping[str, object]]) -> dg.MetadataValue:
    """The first 15 rows as a markdown table."""
    if not found:
        return dg.MetadataValue.md("_no rows yet_")
    names = list(found[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cell(row[name]) for name in names) + " |" for row in found[:15]]
    return dg.MetadataValue.md("\n".join(lines))


def _cell(value: object) -> str:
    return (f"{value:.3g}" if isinstance(value, float) else str(value)).replace("|", "\\|")[:80]


def _plot(draw, title: str, *, height: float) -> dg.MetadataValue:  # type: ignore[no-untyped-def]
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, height), layout="constrained")  # no pyplot: no global state, no display
    axes = figure.subplots()
    draw(axes)
    axes.set_title(title, fontsize=10)
    axes.tick_params(labelsize=8)
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=90)
    encoded = base64.b64encode(image.getvalue()).decode()
    return dg.MetadataValue.md(f"![{title}](data:image/png;base64,{encoded})")
