"""Readers that return frames: images, audio, text, tensors, hyperparameters, layouts, node statistics, embeddings."""

from __future__ import annotations

import pandas as pd

from tbframe.discovery import LogDirLike
from tbframe.documenting import reader_of
from tbframe.kinds import audio as audio_kind
from tbframe.kinds import custom_scalars as layout_kind
from tbframe.kinds import embeddings as embedding_kind
from tbframe.kinds import hparams as hparam_kind
from tbframe.kinds import images as image_kind
from tbframe.kinds import node_stats as node_kind
from tbframe.kinds import tensors as tensor_kind
from tbframe.kinds import text as text_kind
from tbframe.kinds.session_metrics import How
from tbframe.log_files import DamagePolicy
from tbframe.logdir import LogDir
from tbframe.names import NameFilter
from tbframe.restarts import Policy

__all__ = ["audio", "custom_scalars", "embeddings", "hparams", "images", "node_stats", "tensors", "text"]


@reader_of(image_kind.frame)
def images(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
    data: bool = True,
) -> pd.DataFrame:
    """Read the images of a log directory, their bytes untouched.

    Examples
    --------
    >>> import tbframe
    >>> df = tbframe.images(tbframe.sample_logs(), tags="sample", data=False)
    >>> df[["step", "width", "height", "format"]].tail(1)
       step  width  height format
    6    59      8       8    png
    """
    return LogDir(logdir).images(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress, data=data)


@reader_of(audio_kind.frame)
def audio(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
    data: bool = True,
) -> pd.DataFrame:
    """Read the audio clips of a log directory, their bytes untouched.

    Examples
    --------
    >>> import tbframe
    >>> df = tbframe.audio(tbframe.sample_logs(), data=False)
    >>> df[["step", "sample_rate", "channels", "frames", "format"]].tail(1)
       step  sample_rate  channels  frames format
    6    59       8000.0         1     800    wav
    """
    return LogDir(logdir).audio(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress, data=data)


@reader_of(text_kind.frame)
def text(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Read the texts of a log directory. Markdown is left alone.

    Examples
    --------
    >>> import tbframe
    >>> tbframe.text(tbframe.sample_logs())["value"][0].splitlines()[0]
    '**lr** = 0.01'
    """
    return LogDir(logdir).text(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress)


@reader_of(tensor_kind.frame)
def tensors(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Read the tensors of a log directory that no other reader returns.

    Examples
    --------
    >>> import tbframe
    >>> tbframe.tensors(tbframe.sample_logs()).columns.tolist()
    ['run', 'tag', 'step', 'wall_time', 'plugin', 'dtype', 'shape', 'value']
    """
    return LogDir(logdir).tensors(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress)


@reader_of(hparam_kind.frame)
def hparams(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
    metrics: How = "last",
    fold: bool = False,
) -> pd.DataFrame:
    """Read hyperparameters and metrics, one row per session.

    Parameters
    ----------
    runs, tags : str, iterable of str or re.Pattern, optional
        The runs of the sessions wanted, and the tags of the scalars wanted as metrics: a name, names, or a compiled regular
        expression that is searched. Default: all.

    Examples
    --------
    >>> import tbframe
    >>> df = tbframe.hparams(tbframe.sample_logs())
    >>> df[["run", "params.lr", "metrics.hparam/accuracy"]].round(3)
                run  params.lr  metrics.hparam/accuracy
    0  adam-1e-2/hp      0.010                    0.919
    1  adam-1e-3/hp      0.001                    0.680
    """
    return LogDir(logdir).hparams(
        runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress, metrics=metrics, fold=fold
    )


@reader_of(node_kind.frame)
def node_stats(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Read time and memory of every execution of every node.

    Examples
    --------
    >>> import tbframe
    >>> df = tbframe.node_stats(tbframe.sample_logs())  # PyTorch logs the device, but no nodes
    >>> len(df), df.columns.tolist()[:8]
    (0, ['run', 'tag', 'step', 'wall_time', 'device', 'thread', 'thread_name', 'node'])
    """
    return LogDir(logdir).node_stats(runs=runs, tags=tags, restarts=restarts, damaged=damaged, progress=progress)


@reader_of(layout_kind.frame)
def custom_scalars(
    logdir: LogDirLike,
    *,
    runs: NameFilter = None,
    damaged: DamagePolicy = "warn",
    progress: bool | None = None,
) -> pd.DataFrame:
    """Read the charts that TensorBoard's custom scalars are laid out in.

    Parameters
    ----------
    runs : str, iterable of str or re.Pattern, optional
        A name, names, or a compiled regular expression that is searched. Default: all.

    Examples
    --------
    >>> import tbframe
    >>> tbframe.custom_scalars(tbframe.sample_logs())[["category", "chart", "kind"]]
      category          chart       kind
    0   Losses  train vs test  multiline
    1   Losses           band     margin
    """
    return LogDir(logdir).custom_scalars(runs=runs, damaged=damaged, progress=progress)


@reader_of(embedding_kind.frame)
def embeddings(
    logdir: LogDirLike, *, runs: NameFilter = None, tags: NameFilter = None, data: bool = True
) -> pd.DataFrame:
    """Read the projector's embeddings that lie beside the event files.

    Parameters
    ----------
    runs, tags : str, iterable of str or re.Pattern, optional
        The runs wanted, and the names of the embeddings wanted: a name, names, or a compiled regular expression that is
        searched. Default: all.

    Examples
    --------
    >>> import tbframe
    >>> df = tbframe.embeddings(tbframe.sample_logs())
    >>> df["name"][0], df["tensor"][0].shape
    ('digits:00000', (10, 64))
    """
    return LogDir(logdir).embeddings(runs=runs, tags=tags, data=data)
