"""Arithmetic on histograms: edges and counts of many steps at once, arrays in and arrays out.

A histogram here is three float64 arrays ``left``, ``right`` and ``counts`` whose last axis runs over its buckets; all
axes before it (runs, tags, steps) are carried along. Histograms with fewer buckets than the array is wide are padded
behind their last bucket with NaN edges and count 0. Edges that all histograms share may be given with one axis only.
"""

from __future__ import annotations

from tbframe.buckets.arrays import density, is_left_out, is_padding, pad
from tbframe.buckets.percentiles import BASIS_POINTS, compress
from tbframe.buckets.protos import Buckets, Edges, check_edges, from_protos
from tbframe.buckets.rebinning import Outside, equal_edges, rebin, value_range

__all__ = [
    "BASIS_POINTS",
    "Buckets",
    "Edges",
    "Outside",
    "check_edges",
    "compress",
    "density",
    "equal_edges",
    "from_protos",
    "is_left_out",
    "is_padding",
    "pad",
    "rebin",
    "value_range",
]
