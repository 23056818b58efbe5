"""Arithmetic on steps and values, in NumPy alone: sampling, smoothing, aligning, statistics over runs."""

from __future__ import annotations

from tbframe.series.alignment import ALIGNMENTS, Alignment, align
from tbframe.series.grouping import batches, group_rows, mixed_key, number_keys, ragged_ranges, stable_order
from tbframe.series.sampling import RESERVOIR_SIZES, even_indices, even_rows, reservoir_indices, reservoir_rows
from tbframe.series.shapes import first_largest, lttb_rows, minmax_rows
from tbframe.series.smoothing import linear_recurrence, smooth, smooth_half_life
from tbframe.series.statistics import BANDS, ESTIMATORS, Band, Estimator, Summary, order_weights, summarise
from tbframe.series.timing import LONG_GAP, group_medians, pauses, typical_intervals

__all__ = [
    "ALIGNMENTS",
    "BANDS",
    "ESTIMATORS",
    "LONG_GAP",
    "RESERVOIR_SIZES",
    "Alignment",
    "Band",
    "Estimator",
    "Summary",
    "align",
    "batches",
    "even_indices",
    "even_rows",
    "first_largest",
    "group_medians",
    "group_rows",
    "linear_recurrence",
    "lttb_rows",
    "minmax_rows",
    "mixed_key",
    "number_keys",
    "order_weights",
    "pauses",
    "ragged_ranges",
    "reservoir_indices",
    "reservoir_rows",
    "smooth",
    "smooth_half_life",
    "stable_order",
    "summarise",
    "typical_intervals",
]
