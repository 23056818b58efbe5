"""The engine with which xarray opens log directories: ``xarray.open_dataset(logdir, engine="tbframe")``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import xarray as xr
from xarray.backends import BackendEntrypoint

from tbframe.buckets import Edges
from tbframe.log_files import DamagePolicy
from tbframe.logdir import LogDir
from tbframe.names import NameFilter
from tbframe.restarts import Policy
from tbframe.storage import MARK

__all__ = ["TbframeBackendEntrypoint"]


class TbframeBackendEntrypoint(BackendEntrypoint):
    """Opens the histograms of a log directory.

    Examples
    --------
    >>> import tbframe, xarray
    >>> engine = TbframeBackendEntrypoint  # or "tbframe", where the package is installed
    >>> xarray.open_dataset(tbframe.sample_logs(), engine=engine, run="adam-1e-2", tag="0.weight").counts.dims
    ('step', 'bin')
    """

    description = "Histograms of TensorBoard event logs"
    open_dataset_parameters = ("filename_or_obj", "drop_variables", "run", "tag", "restarts", "damaged", "edges")

    def open_dataset(
        self,
        filename_or_obj: Any,  # noqa: ANN401 - as xarray has it
        *,
        drop_variables: str | Iterable[str] | None = None,
        run: NameFilter = None,
        tag: NameFilter = None,
        restarts: Policy = "purge",
        damaged: DamagePolicy = "warn",
        edges: Edges = "clipped",
    ) -> xr.Dataset:
        """Read histograms, as `tbframe.histograms` does.

        Parameters
        ----------
        filename_or_obj : str, os.PathLike, mapping or iterable
            The log directory, see `tbframe.scalars`.
        drop_variables : str or iterable of str, optional
            Variables to leave out.
        run, tag : str, iterable of str or re.Pattern, optional
            See `runs` and `tags` of `tbframe.histograms`.
        restarts, damaged, edges
            See `tbframe.histograms`.

        Returns
        -------
        xarray.Dataset
            See `tbframe.histograms`.

        Raises
        ------
        FileNotFoundError, UnknownNameError, EventFileError, ValueError, TypeError
            As `tbframe.histograms`.
        """
        found = LogDir(filename_or_obj).histograms(runs=run, tags=tag, restarts=restarts, damaged=damaged, edges=edges)
        dropped = [drop_variables] if isinstance(drop_variables, str) else list(drop_variables or ())
        return found.drop_vars(dropped, errors="ignore")

    def guess_can_open(self, filename_or_obj: Any) -> bool:  # noqa: ANN401 - as xarray has it
        """Tell whether a path is an event file, or a directory with event files right in it.

        Parameters
        ----------
        filename_or_obj : object
            What `xarray.open_dataset` was given.

        Returns
        -------
        bool
            False for everything else, a directory of runs among them: that may hold other data too.
        """
        if not isinstance(filename_or_obj, str | os.PathLike):
            return False
        path = os.fspath(filename_or_obj)
        if not isinstance(path, str):
            return False
        if not os.path.isdir(path):
            return MARK in path.replace("\\", "/").rpartition("/")[2]
        try:
            with os.scandir(path) as entries:
                return any(MARK in entry.name and entry.is_file() for entry in entries)
        except OSError:
            return False
