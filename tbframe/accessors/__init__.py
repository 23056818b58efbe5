"""The ``.tb`` accessors of frames, Datasets and DataArrays; importing this package registers them."""

from __future__ import annotations

from tbframe.accessors.dataset import DataArrayAccessor, DatasetAccessor
from tbframe.accessors.frame import FrameAccessor

__all__ = ["DataArrayAccessor", "DatasetAccessor", "FrameAccessor"]
