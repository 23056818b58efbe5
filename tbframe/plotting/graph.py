"""The overview of a graph as boxes and arrows, in layers from left to right. NetworkX finds the layers and lays them out."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.font_manager import FontProperties
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path
from matplotlib.textpath import text_to_path

from tbframe.plotting.style import fit_label, inches

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw_overview"]

_MOST_BOXES: Final = 300
_MOST_POINTS: Final = 30_000  # that edges lead through
_MOST_INCHES: Final = 30.0
_POINTS: Final = 8.0
_LINE: Final = 1.3 * _POINTS / 72  # all lengths are in inches
_WIDEST: Final = 2.2  # of a label
_PAD: Final = 0.08
_ROW: Final = 0.16  # between the boxes of a layer
_GAP: Final = 0.8  # between layers, for the arrows
_SWEEPS: Final = 12
_BACK_DROP: Final = 0.07  # of an arrow back, so that it does not cover one forth
_EDGE, _BACK, _SCOPE, _OPERATION = "0.45", "#b5482f", "#dce6f0", "white"


class _Box(NamedTuple):
    label: str
    width: float
    height: float
    scope: bool


class _Place(NamedTuple):
    """Where a box, or a point of a chain, lies, in inches."""

    x: float
    y: float
    half: float
    """Half the width of the box, or of the layer that a chain leads past."""


class _Chain(NamedTuple):
    """An edge as a chain of nodes in successive layers: boxes at its ends, points that it leads through between them."""

    nodes: list[Hashable]
    """From left to right."""
    back: bool
    """Whether the edge leads from right to left."""


def draw_overview(nodes: pd.DataFrame, edges: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the boxes of an overview, and the edges between them from left to right.

    A scope is tinted and says how many operations it holds. An arrow is thicker the more edges it stands for, dashed if
    all are control edges, and red if it closes a cycle, from right to left.

    Parameters
    ----------
    nodes, edges : pandas.DataFrame
        See `tbframe.kinds.graph.Overview`.
    ax : matplotlib Axes, optional
        To draw on; default is a new figure of a size that fits.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ValueError
        If there are more than 300 boxes, or too many edges that lead past others.
    """
    if len(nodes) > _MOST_BOXES:
        raise ValueError(
            f"plot(): {len(nodes):,} boxes cannot be told apart (at most {_MOST_BOXES}). Take a smaller depth"
        )
    boxes = {str(row.name): _box(row) for row in nodes[["name", "scope", "op", "ops"]].itertuples(index=False)}
    pairs = list(zip(edges["source"], edges["target"], strict=True))
    layers, chains = _layers(list(boxes), pairs)
    at = _places(boxes, layers)
    ax, shrink = _frame(ax, boxes, at)
    for row, chain in zip(edges.itertuples(index=False), chains, strict=True):
        _draw_arrow(ax, row, chain, at, shrink)
    for name, box in boxes.items():
        _draw_box(ax, box, at[name], shrink)
    if not boxes:
        ax.text(0.5, 0.5, "no nodes", transform=ax.transAxes, ha="center", va="center")
    return ax


def _box(row: Any) -> _Box:  # noqa: ANN401 - a row of the frame of boxes
    name = row.name
    lines = fit_label(name, _WIDEST, _POINTS)
    if row.op and row.op != name:
        lines += f"\n[{fit_label(row.op, _WIDEST, _POINTS)}]"
    elif not row.op:
        lines += f"\n{row.ops:,} op{'s' * (row.ops != 1)}"
    split = lines.split("\n")
    return _Box(lines, max(map(_width, split)) + 2 * _PAD, len(split) * _LINE + 2 * _PAD, not row.op)


def _width(text: str) -> float:
    """Measure a line, in inches."""
    width, _, _ = text_to_path.get_text_width_height_descent(text, FontProperties(size=_POINTS), ismath=False)
    return float(width) / 72


def _layers(names: list[str], pairs: list[tuple[str, str]]) -> tuple[list[list[Hashable]], list[_Chain]]:
    """Sort boxes into layers so that edges lead from left to right, but for those that close a cycle."""
    ends = {name for pair in pairs for name in pair}
    connected = nx.DiGraph()
    connected.add_nodes_from(name for name in names if name in ends)
    connected.add_edges_from(pairs)
    rank = {name: -i for i, name in enumerate(nx.dfs_postorder_nodes(connected))}
    forward = nx.DiGraph()
    forward.add_edges_from((s, t) if rank[s] < rank[t] else (t, s) for s, t in pairs)
    layer = {name: i for i, some in enumerate(nx.topological_generations(forward)) for name in some}
    for name, degree in forward.in_degree:
        if not degree:  # what nothing leads to stands just before what takes it
            layer[name] = min(layer[target] for target in forward.successors(name)) - 1
    chains = []
    columns: list[dict[Hashable, None]] = [{} for _ in range(max(layer.values(), default=-1) + 1)]
    for name in names:
        if name in layer:
            columns[layer[name]][name] = None
    length = sum(abs(layer[source] - layer[target]) for source, target in pairs)
    if length > _MOST_POINTS:
        raise ValueError(
            f"plot(): {len(pairs):,} edges between {len(names):,} boxes cannot be told apart. Take a smaller depth"
        )
    for source, target in pairs:
        back = rank[source] > rank[target]
        first, last = (target, source) if back else (source, target)
        # Edges that begin at one box share their points.
        through = [(first, i) for i in range(layer[first] + 1, layer[last])]
        for point in through:
            columns[point[1]][point] = None
        chains.append(_Chain([first, *through, last], back))
    ordered = _with_few_crossings([list(column) for column in columns], chains)
    return ordered + _alone([name for name in names if name not in layer], ordered), chains


def _with_few_crossings(columns: list[list[Hashable]], chains: Iterable[_Chain]) -> list[list[Hashable]]:
    """Order each layer by the mean place of the neighbours in the layer before, and after, in turn."""
    left: dict[Hashable, list[Hashable]] = {node: [] for column in columns for node in column}
    right: dict[Hashable, list[Hashable]] = {node: [] for column in columns for node in column}
    for a, b in {step: None for chain in chains for step in itertools.pairwise(chain.nodes)}:
        right[a].append(b)
        left[b].append(a)
    place = {node: i - len(column) / 2 for column in columns for i, node in enumerate(column)}
    for sweep in range(_SWEEPS):
        neighbours = right if sweep % 2 else left
        for column in reversed(columns) if sweep % 2 else columns:
            mean = {n: float(np.mean([place[m] for m in neighbours[n]])) if neighbours[n] else place[n] for n in column}
            column.sort(key=mean.__getitem__)
            place |= {node: i - len(column) / 2 for i, node in enumerate(column)}
    return columns


def _alone(names: list[str], columns: list[list[Hashable]]) -> list[list[Hashable]]:
    """Stack boxes without an edge in columns of their own, no higher than the others."""
    height = max(8, *map(len, columns)) if columns else 8
    return [list(names[i : i + height]) for i in range(0, len(names), height)]


def _places(boxes: dict[str, _Box], layers: list[list[Hashable]]) -> dict[Hashable, _Place]:
    """Place boxes and points, in inches."""
    graph = nx.DiGraph()
    graph.add_nodes_from(node for column in layers for node in column)
    unit = nx.multipartite_layout(graph, subset_key=dict(enumerate(layers)), align="vertical")
    pitch = max((box.height for box in boxes.values()), default=0.0) + _ROW
    # The layout is scaled to fit a square of 2 by 2: the highest layer gives the unit back.
    span = max((abs(float(y)) for _, y in unit.values()), default=0.0) or 1.0
    half = pitch * (max(map(len, layers), default=1) - 1) / 2
    found, x = {}, 0.0
    for column in layers:
        width = max((boxes[str(node)].width for node in column if node in boxes), default=0.0)
        for node in column:
            own = boxes[str(node)].width if node in boxes else width
            found[node] = _Place(x + width / 2, float(unit[node][1]) / span * half, own / 2)
        x += width + _GAP
    return found


def _frame(ax: Axes | None, boxes: dict[str, _Box], at: dict[Hashable, _Place]) -> tuple[Axes, float]:
    """Set up the Axes, and tell by how much smaller than meant an inch is on it."""
    high = max((box.height for box in boxes.values()), default=0.0) / 2 + _ROW
    left, right = (
        min((p.x - p.half for p in at.values()), default=0) - _ROW,
        max((p.x + p.half for p in at.values()), default=2) + _ROW,
    )
    low, top = min((p.y for p in at.values()), default=-0.5) - high, max((p.y for p in at.values()), default=0.5) + high
    if ax is None:
        from matplotlib import pyplot as plt

        scale = min(1.0, _MOST_INCHES / max(right - left, top - low))
        ax = plt.figure(figsize=((right - left) * scale, (top - low) * scale)).add_axes((0, 0, 1, 1))
    ax.set(xlim=(left, right), ylim=(low, top), aspect="equal")
    ax.set_axis_off()
    width, height = inches(ax)
    return ax, min(width / (right - left), height / (top - low))


def _draw_box(ax: Axes, box: _Box, at: _Place, shrink: float) -> None:
    corner = at.x - box.width / 2, at.y - box.height / 2
    style = "round,pad=0,rounding_size=0.06" if box.scope else "square,pad=0"
    face = _SCOPE if box.scope else _OPERATION
    ax.add_patch(
        FancyBboxPatch(
            corner, box.width, box.height, style, facecolor=face, edgecolor="0.3", linewidth=0.8 * shrink, zorder=3
        )
    )
    ax.text(
        at.x,
        at.y,
        box.label,
        size=_POINTS * shrink,
        ha="center",
        va="center",
        parse_math=False,
        linespacing=1.15,
        zorder=4,
    )


def _draw_arrow(ax: Axes, row: Any, chain: _Chain, at: dict[Hashable, _Place], shrink: float) -> None:  # noqa: ANN401 - a row
    drop = _BACK_DROP if chain.back else 0.0
    places = [at[node] for node in chain.nodes]
    points = [(places[0].x + places[0].half, places[0].y - drop)]
    for place in places[1:-1]:
        points += [(place.x - place.half, place.y), (place.x + place.half, place.y)]
    points.append((places[-1].x - places[-1].half, places[-1].y - drop))
    if chain.back:
        points.reverse()
    vertices, codes = [points[0]], [Path.MOVETO]
    for i, ((x, y), (next_x, next_y)) in enumerate(itertools.pairwise(points)):
        if i % 2:  # along a box of the layer
            vertices.append((next_x, next_y))
            codes.append(Path.LINETO)
        else:
            middle = (x + next_x) / 2
            vertices += [(middle, y), (middle, next_y), (next_x, next_y)]
            codes += [Path.CURVE4] * 3
    ax.add_artist(  # unlike add_patch it does not measure the curve: the limits are set
        FancyArrowPatch(
            path=Path(vertices, codes),
            arrowstyle="-|>",
            mutation_scale=8 * shrink,
            linewidth=(0.7 + 0.35 * np.log2(row.edges + row.control)) * shrink,
            linestyle="-" if row.edges else (0, (3, 2)),
            color=_BACK if chain.back else _EDGE,
            zorder=1,
        )
    )
