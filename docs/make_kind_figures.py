"""Draw the figures of the page "Every other kind": python docs/make_kind_figures.py [FOLDER]."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import matplotlib.pyplot as plt

import tbframe

DPI = 120


def figures() -> dict[str, plt.Figure]:
    """Draw all of them, by name."""
    torch, tensorflow1 = (tbframe.open(tbframe.sample_logs(name)) for name in ("torch", "tensorflow1"))
    images = torch.images()
    shown = images[images["step"].isin([0, 20, 40, 59])].tb.show()
    pr_curve, ax = plt.subplots(figsize=(4.5, 3.4), layout="constrained")
    torch.pr_curves().tb.pr(step=[10, 30, 59], ax=ax)
    charts, panels = plt.subplots(1, 2, figsize=(7.5, 3), layout="constrained")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the margin chart's tags were logged at different steps
        torch.custom_scalars().tb.charts(torch.scalars(runs="adam-1e-2"), ax=panels)
    graph = tensorflow1.graph().plot(depth=1)
    slowest = tensorflow1.node_stats().tb.slowest(depth=1, n=12)
    return {
        "kinds-images": shown[0].figure,
        "kinds-pr": pr_curve,
        "kinds-charts": charts,
        "kinds-graph": graph.figure,
        "kinds-nodes": slowest[0].figure,
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images"
    for name, figure in figures().items():
        figure.savefig(folder / f"{name}.png", dpi=DPI)
        print(f"{name}.png")
