"""The ``.tb`` accessors of frames, Datasets and DataArrays; importing this package registers them.

What stands behind them is imported when one is first used, so that ``import tbframe`` stays cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import xarray as xr

if TYPE_CHECKING:
    from tbframe.accessors.dataset import DataArrayAccessor, DatasetAccessor
    from tbframe.accessors.frame import FrameAccessor

__all__ = ["array_accessor", "dataset_accessor", "frame_accessor"]


@pd.api.extensions.register_dataframe_accessor("tb")  # type: ignore[type-var]  # any callable will do
def frame_accessor(frame: pd.DataFrame) -> FrameAccessor:
    """Return ``df.tb``: see `tbframe.accessors.frame.FrameAccessor`."""
    from tbframe.accessors.frame import FrameAccessor

    return FrameAccessor(frame)


@xr.register_dataset_accessor("tb")  # type: ignore[no-untyped-call, untyped-decorator]
def dataset_accessor(ds: xr.Dataset) -> DatasetAccessor:
    """Return ``ds.tb``: see `tbframe.accessors.dataset.DatasetAccessor`."""
    from tbframe.accessors.dataset import DatasetAccessor

    return DatasetAccessor(ds)


@xr.register_dataarray_accessor("tb")  # type: ignore[no-untyped-call, untyped-decorator]
def array_accessor(array: xr.DataArray) -> DataArrayAccessor:
    """Return ``da.tb``: see `tbframe.accessors.dataset.DataArrayAccessor`."""
    from tbframe.accessors.dataset import DataArrayAccessor

    return DataArrayAccessor(array)
