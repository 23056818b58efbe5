"""Images in a labelled grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.plotting.style import AxesLike, as_axes, inches
from tbframe.verbs.image_verbs import decode, require_data
from tbframe.verbs.pixels import Pixels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Text

__all__ = ["draw_image", "show"]

_WIDEST = 12  # samples of a step that are put in one row
_COLUMNS = 8
_CELL = 1.5  # inches, of the longer side of an image
_LINE = 0.22  # inches, of a line of text
_HEADING = 0.35  # inches
_NARROWEST = 3.0  # inches, of a figure
_EM = 0.63  # mean width of a letter, in units of its size


class _Block(NamedTuple):
    """Images that are drawn together."""

    heading: str
    """The run and tag of all; "" if each is labelled with its own."""
    rows: list[int]
    """Positions in the frame."""
    labels: list[str]
    """Of each."""
    columns: int
    """How many in a row."""


def show(
    frame: pd.DataFrame, *, max_images: int | None = 48, columns: int | None = None, ax: AxesLike | None = None
) -> Axes | npt.NDArray[np.object_]:
    """Draw images in a grid: run by run and tag by tag, each labelled with its step and sample.

    Parameters
    ----------
    frame : DataFrame
        Images: columns run, tag, step and data; sample if there is one.
    max_images : int or None
        Draw at most so many, evenly spread by position with the first and the last kept; None draws all.
    columns : int or None
        How many in a row; None puts the samples of a step in a row, else 8.
    ax : Axes, array of Axes or None
        Where to draw, one for each image; None makes a figure.

    Returns
    -------
    Axes or array of Axes, shape (images,)
        In the order of the frame. Of animations the first frame is drawn.

    Raises
    ------
    AccessorError
        If a column is missing.
    ValueError
        If there is no image to draw, `max_images` or `columns` is less than 1, the number of Axes does not fit, or an
        image has more pixels than ``PIL.Image.MAX_IMAGE_PIXELS``.

    Warns
    -----
    UndecodableValueWarning
        For each run and tag with bytes that are no image; their place in the grid says so.
    """
    require_data(frame, "show", "images")
    for name, number in (("max_images", max_images), ("columns", columns)):
        if number is not None and number < 1:
            raise ValueError(f"{name}={number!r}: expected at least 1, or None")
    if not len(frame):
        raise ValueError("show(): the frame has no rows, so that there is no image to draw")
    shown = frame
    if max_images is not None and len(frame) > max_images:
        shown = frame.iloc[np.unique(np.linspace(0, len(frame) - 1, max_images).round().astype(int))]
    images = decode(shown).tolist()
    if ax is None:
        title = f"{len(shown):,} of {len(frame):,} images" if len(shown) < len(frame) else ""
        axes = _make_grid(images, _blocks(shown, columns), title)
    else:
        axes = as_axes(ax, len(shown))
        for one, label in zip(axes, _labels(shown, named=True), strict=True):
            _write(one, label, inches(one)[0])
    for one, image, data in zip(axes, images, shown["data"], strict=True):
        draw_image(one, image, f"{len(data):,} bytes that are\nno image")
    return axes[0] if len(axes) == 1 else np.array(axes, object)


def draw_image(ax: Axes, image: Pixels | None, instead: str = "no image") -> None:
    """Draw the pixels of an image, grey as grey.

    Parameters
    ----------
    ax : Axes
        To draw on; its ticks are taken away.
    image : ndarray, shape ([frames,] height, width, channels), or None
        As `tbframe.verbs.image_verbs.decode` gives it. Of several frames the first is drawn.
    instead : str
        What to write if there is no image.
    """
    ax.set_xticks([])
    ax.set_yticks([])
    if image is None:
        ax.text(0.5, 0.5, instead, ha="center", va="center", fontsize="small", color="0.4", transform=ax.transAxes)
        return
    still = image[0] if image.ndim == 4 else image
    if still.shape[2] == 2:  # matplotlib knows opacity only with colours
        still = still[..., [0, 0, 0, 1]]
    if still.shape[2] == 1:
        ax.imshow(still[..., 0], cmap="gray", vmin=0, vmax=np.iinfo(still.dtype).max)
    else:
        ax.imshow(still)
    if image.ndim == 4:
        ax.set_xlabel(f"frame 1 of {len(image)}", fontsize="x-small")


def _write(ax: Axes, label: str, width: float) -> None:
    """Write a label line by line, each as long as there is room; names are never read as mathematics or TeX."""
    title = ax.set_title("", fontsize="small", parse_math=False)
    title.set_usetex(False)
    title.set_text("\n".join(_shorten(line, _room(title, width)) for line in label.split("\n")))


def _room(text: Text, width: float) -> int:
    """Return how many letters fit into so many inches."""
    return max(8, int(72 * width / (_EM * float(text.get_fontsize()))))


def _shorten(text: str, room: int) -> str:
    """Leave out the middle of a text that is too long; its end tells names apart."""
    return text if len(text) <= room else f"{text[: room // 3]}…{text[len(text) - (room - room // 3 - 1) :]}"


def _labels(frame: pd.DataFrame, *, named: bool) -> list[str]:
    """Return step and sample of each image, the latter if there are several; if asked for, its run and tag above them."""
    parts = [[f"step {step}" for step in frame["step"]]]
    if "sample" in frame.columns and frame["sample"].nunique() > 1:
        parts.append([f"sample {sample}" for sample in frame["sample"]])
    labels = [" · ".join(words) for words in zip(*parts, strict=True)]
    if not named:
        return labels
    return ["\n".join(lines) for lines in zip(frame["run"].astype(str), frame["tag"].astype(str), labels, strict=True)]


def _blocks(frame: pd.DataFrame, columns: int | None) -> list[_Block]:
    """Return the images of each run and tag; those that are alone in theirs go in one block, if there are several."""
    found: dict[tuple[str, str], list[int]] = {}
    for row, series in enumerate(zip(frame["run"].astype(str), frame["tag"].astype(str), strict=True)):
        found.setdefault(series, []).append(row)
    alone = [rows[0] for rows in found.values() if len(rows) == 1]
    steps, labels = frame["step"].to_numpy(), _labels(frame, named=False)
    blocks = [
        _Block(" · ".join(series), rows, [labels[row] for row in rows], columns or _in_a_row(steps[rows]))
        for series, rows in found.items()
        if len(rows) > 1 or len(alone) == 1
    ]
    if len(alone) > 1:
        labels = _labels(frame, named=True)
        blocks.append(_Block("", alone, [labels[row] for row in alone], columns or _COLUMNS))
    return [block._replace(columns=min(block.columns, len(block.rows))) for block in blocks]


def _in_a_row(steps: npt.NDArray[np.generic]) -> int:
    """Return how many images each step has, if there are several, equally many and not too many; else a default."""
    starts = np.flatnonzero(np.append(True, steps[1:] != steps[:-1]))
    sizes = np.unique(np.diff(starts, append=len(steps)))
    return int(sizes[0]) if len(sizes) == 1 and 1 < sizes[0] <= _WIDEST else _COLUMNS


def _make_grid(images: list[Pixels | None], blocks: list[_Block], title: str) -> list[Axes]:
    """Make a figure of labelled cells, block by block; the Axes in the order of the images."""
    from matplotlib import pyplot as plt

    cell = _CELL if len(images) > 1 else 2 * _CELL
    columns = max(block.columns for block in blocks)
    heights = [_height(block, [images[row] for row in block.rows], cell) for block in blocks]
    size = (max(cell * columns, _NARROWEST), sum(heights) + _HEADING * bool(title))
    figure = plt.figure(figsize=size, layout="constrained")
    if title:
        figure.suptitle(title, fontsize="medium", x=0.01, ha="left")
    axes: dict[int, Axes] = {}
    # No subfigures: what the caller gets must have the figure that can be saved as its figure.
    parts = figure.add_gridspec(len(blocks), 1, height_ratios=heights)
    for place, (block, height) in enumerate(zip(blocks, heights, strict=True)):
        above, rows = bool(block.heading), -(-len(block.rows) // block.columns)
        ratios = [_HEADING] * above + [(height - _HEADING * above) / rows] * rows
        grid = parts[place].subgridspec(above + rows, columns, height_ratios=ratios)
        if above:
            _write_heading(figure.add_subplot(grid[0, :]), block.heading, size[0])
        for i, (row, label) in enumerate(zip(block.rows, block.labels, strict=True)):
            line, column = divmod(i, block.columns)
            axes[row] = figure.add_subplot(grid[above + line, column])
            _write(axes[row], label, cell)
    return [axes[row] for row in range(len(images))]


def _write_heading(ax: Axes, heading: str, width: float) -> None:
    ax.set_axis_off()
    text = ax.text(0, 0, "", fontsize="medium", ha="left", va="bottom", parse_math=False, usetex=False)
    text.set_text(_shorten(heading, _room(text, width)))


def _height(block: _Block, images: list[Pixels | None], cell: float) -> float:
    """Return the height of a block in inches."""
    shapes = [image.shape[-3:-1] for image in images if image is not None]
    tallest = max((max(height, 1) / max(width, 1) for height, width in shapes), default=1.0)
    lines = max(label.count("\n") + 1 for label in block.labels)
    lines += any(image is not None and image.ndim == 4 for image in images)
    rows = -(-len(block.rows) // block.columns)
    return rows * (cell * min(1.0, tallest) + _LINE * lines) + _HEADING * bool(block.heading)
