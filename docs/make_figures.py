"""Draw the figures of the page "Scalars for papers": python docs/make_figures.py [FOLDER]."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd

import tbframe

DPI = 200


def seeds() -> pd.DataFrame:
    """Five seeds of two optimizers: loss and accuracy."""
    rng = np.random.default_rng(0)
    step = np.arange(0, 2000, 10)
    parts = []
    for optimizer, rate in {"sgd": 1 / 500, "adam": 1 / 200}.items():
        for seed in range(5):
            decay = np.exp(-step * rate * rng.uniform(0.7, 1.3))
            loss = rng.uniform(0.2, 0.4) + 2 * decay + 0.1 * rng.normal(size=len(step))
            accuracy = rng.uniform(0.85, 0.95) * (1 - decay) + 0.01 * rng.normal(size=len(step))
            for tag, value in {"loss": loss, "accuracy": accuracy}.items():
                columns = {"tag": tag, "step": step, "wall_time": 1.7e9 + step / 20, "value": value}
                parts.append(pd.DataFrame({"run": f"{optimizer}/seed={seed}", **columns}))
    return pd.concat(parts, ignore_index=True)


def long_run() -> pd.DataFrame:
    """A run of 100,000 values that spikes and recovers."""
    rng = np.random.default_rng(1)
    step = np.arange(100_000)
    value = 0.5 + np.exp(-step / 8_000) + 0.15 * rng.normal(size=len(step))
    value += 0.8 * np.exp(-(step - 60_000) / 1_500) * (step >= 60_000)
    return pd.DataFrame({"run": "all values", "tag": "loss", "step": step, "wall_time": 0.0, "value": value})


def figures() -> dict[str, tbframe.plotting.curves.CurvesFigure]:
    """Draw all of them, by name."""
    by_optimizer = r"^(?P<optimizer>\w+)/"
    mean = seeds().tb.smooth(0.6).tb.aggregate(by_optimizer)
    everything = long_run()
    sample = everything.tb.downsample(1000).tb.rename(runs=lambda _: "sample of 1000, as TensorBoard")
    smoothed = pd.concat([everything.tb.smooth(0.99), sample.tb.smooth(0.99)])
    return {
        "scalars-seeds": mean.tb.curves(),
        "scalars-column": mean.tb.select(tags="loss").tb.curves(log="y", width=3.3),
        "scalars-smoothing": tbframe.scalars(tbframe.sample_logs())
        .tb.select(tags="loss/train")
        .tb.curves(smooth=0.9, width=3.3),
        "scalars-sampled": smoothed.tb.curves(width=6.8),
    }


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent / "images"
    for name, figure in figures().items():
        figure.savefig(folder / f"{name}.png", dpi=DPI)
        print(f"{name}: {figure.caption()}")
