"""Readers that return other Datasets: precision-recall curves, meshes."""

from __future__ import annotations

import xarray as xr

from tbframe.discovery import LogDirLike
from tbframe.documenting import reader_of
from tbframe.kinds import meshes as mesh_kind
from tbframe.kinds import pr_curves as pr_curve_kind
from tbframe.log_files import DamagePolicy
from tbframe.logdir import LogDir
from tbframe.names import NameFilter
from tbframe.restarts import Policy

__all__ = ["meshes", "pr_curves"]


@reader_of(pr_curve_kind.dataset)
def pr_curves(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
) -> xr.Dataset:
    """Read the precision-recall curves of a log directory, untrimmed.

    Parameters
    ----------
    runs, tags : str, iterable of str or re.Pattern, optional
        A name, names, or a compiled regular expression that is searched. Default: all. A name gives a coordinate without a
        dimension, as ``.sel`` does; names and a pattern keep the dimension even if there is just one, None only if there are
        several.

    Examples
    --------
    >>> import tbframe
    >>> ds = tbframe.pr_curves(tbframe.sample_logs(), tags="is_three")
    >>> dict(ds.sizes), ds.recall.isel(step=-1, threshold=[0, 10]).round(3).values
    ({'step': 7, 'threshold': 21}, array([1.   , 0.744]))
    """
    return LogDir(logdir).pr_curves(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress)


@reader_of(mesh_kind.dataset)
def meshes(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
) -> xr.Dataset:
    """Read the meshes and point clouds of a log directory.

    Parameters
    ----------
    runs, tags : str, iterable of str or re.Pattern, optional
        A name, names, or a compiled regular expression that is searched. Default: all. A name gives a coordinate without a
        dimension, as ``.sel`` does; names and a pattern keep the dimension even if there is just one, None only if there are
        several.

    Examples
    --------
    >>> import tbframe
    >>> dict(tbframe.meshes(tbframe.sample_logs(), tags="cloud").vertices.sizes)
    {'step': 1, 'sample': 1, 'vertex': 12, 'axis': 3}
    """
    return LogDir(logdir).meshes(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress)
