"""Hyperparameters and metrics: one row per session run."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import pandas as pd

from tbframe.events.messages import message_class
from tbframe.kinds.catalog import Catalog
from tbframe.kinds.frames import categories
from tbframe.kinds.hparams_yaml import read_yaml
from tbframe.kinds.param_columns import Value, param_column, value_of
from tbframe.kinds.session_metrics import How, metric_columns, owners
from tbframe.kinds.stacking import refuse_padding
from tbframe.kinds.undecodable import Undecodable
from tbframe.names import NameFilter, choose, natural_order
from tbframe.restarts import Policy

__all__ = ["Status", "frame"]

Status: TypeAlias = Literal["UNKNOWN", "SUCCESS", "FAILURE", "RUNNING"]

_STATUSES: Final = get_args(Status)
_TYPES: Final = ("", "str", "bool", "float")
_DATASETS: Final = ("", "training", "validation")
_MEMBERS: Final = {
    "_hparams_/experiment": "experiment",
    "_hparams_/session_start_info": "session_start_info",
    "_hparams_/session_end_info": "session_end_info",
}
"""The tags that TensorBoard looks for, and the member of HParamsPluginData that each must hold."""


class _Session(NamedTuple):
    """What was logged of one session."""

    run: str
    params: Mapping[str, Value]
    group: str = ""
    start_time: float = math.nan
    model_uri: str = ""
    monitor_url: str = ""
    status: str = "UNKNOWN"
    end_time: float = math.nan
    parent: str | None = None
    """The run that `fold` takes the session for, if there is one."""


def frame(
    catalog: Catalog,
    *,
    runs: NameFilter = None,
    tags: NameFilter = None,
    restarts: Policy = "purge",
    metrics: How = "last",
    fold: bool = False,
) -> pd.DataFrame:
    """Build the frame of sessions.

    A session is a run with hyperparameters: logged to the plugin ``hparams``, or in a file ``hparams.yaml`` beside the
    events, as Lightning writes it. Its metrics are the scalars of that run, and of the runs below it that are not below
    another session: TensorBoard's rule, without its exception for the logdir itself.

    Parameters
    ----------
    catalog : Catalog
        All rows.
    runs : str, iterable of str, re.Pattern or None
        The session runs wanted.
    tags : str, iterable of str, re.Pattern or None
        The tags of scalars wanted as metrics.
    restarts : {"purge", "latest", "keep", "mark"}
        Which values of a metric count, see `tbframe.scalars`.
    metrics : {"last", "min", "max", "mean"}
        Which value of a metric is taken: the last one logged, NaN or not, or an aggregate of those that are numbers.
    fold : bool
        Whether to take the sub-run that ``add_hparams`` of PyTorch and tensorboardX writes for the run above it:
        ``run`` is then the run above, whose scalars are metrics too, and a further column ``session`` (str) the
        session run. A sub-run of ``add_scalars`` then gives ``metrics.<tag>/<key>``.

    Returns
    -------
    pandas.DataFrame
        One row per session: ``run`` (category, in natural order), ``group`` (str: TensorBoard's session group, else the
        run), ``status`` (str: "UNKNOWN", "SUCCESS", "FAILURE" or "RUNNING"), ``start_time``, ``end_time`` (float64,
        seconds since the epoch, NaN if not logged); ``model_uri``, ``monitor_url`` (str) if a session has one;
        ``params.<name>`` (float64, boolean, or str, also for mixed types; missing where not logged); ``metrics.<tag>``
        and, for sub-runs, ``metrics.<group>/<tag>`` (float64). ``attrs["tbframe"]`` has the ``experiments`` logged, and
        in ``metrics`` the group and tag of each column.

    Raises
    ------
    UnknownNameError
        If a run or tag does not exist.
    ValueError
        If `metrics` is none of the above, or sessions differ so much that the table would be very large and mostly empty.

    Warns
    -----
    UndecodableValueWarning
        If a message or ``hparams.yaml`` cannot be read.
    """
    wanted = {catalog.runs[i] for i in choose(catalog.runs, runs, "run")}
    undecodable = Undecodable("hparams")
    logged = _messages(catalog, undecodable)
    sessions = _sessions(catalog, logged, fold)
    undecodable.say()
    # The sessions left out take part in the question which session a run belongs to.
    owned = owners(catalog.runs, [session.run for session in sessions], [session.parent for session in sessions])
    kept = [i for i, session in enumerate(sessions) if session.run in wanted]
    row = {i: place for place, i in enumerate(kept)}
    owned = [owner._replace(session=row[owner.session]) for owner in owned if owner.session in row]
    found = metric_columns(catalog, owned, len(kept), tags=tags, restarts=restarts, how=metrics, fold=fold)
    result = pd.DataFrame({**_session_columns([sessions[i] for i in kept], fold), **found.columns})
    result.attrs["tbframe"] = {
        "kind": "hparams",
        "metrics": {name: list(pair) for name, pair in found.names.items()},
        "experiments": [_experiment(run, data.experiment) for run, data in logged["_hparams_/experiment"].items()],
        "dropped": found.dropped,
    }
    return result


def _messages(catalog: Catalog, undecodable: Undecodable) -> dict[str, dict[str, Any]]:
    """Decode what the metadata of the three tags hold: tag -> run -> message, runs in natural order."""
    from google.protobuf.message import DecodeError

    found: dict[str, dict[str, Any]] = {tag: {} for tag in _MEMBERS}
    for (run, tag), metadata in sorted(catalog.metadata.items()):
        name, of = catalog.tags[tag], catalog.runs[run]
        if metadata.plugin != "hparams" or name not in found:
            continue
        try:
            data = message_class("HParamsPluginData").FromString(metadata.content)
        except DecodeError:
            problem = "the metadata hold no HParamsPluginData"
        else:
            if data.version == 0 and data.WhichOneof("data") == _MEMBERS[name]:
                found[name][of] = data
                continue
            problem = (
                f"version {data.version} of the plugin is not known"
                if data.version
                else f"expected {_MEMBERS[name]}, found {data.WhichOneof('data') or 'nothing'}"
            )
        undecodable.add(of, name, _first_step(catalog, run, tag), problem)
    return found


def _first_step(catalog: Catalog, run: int, tag: int) -> int:
    return int(catalog.column("step")[np.flatnonzero((catalog.run == run) & (catalog.logged_tag == tag))[0]])


def _sessions(catalog: Catalog, logged: dict[str, dict[str, Any]], fold: bool) -> list[_Session]:
    """Bring together what the events and the files beside them say of each session."""
    experiments, starts, ends = (logged[tag] for tag in _MEMBERS)
    beside = read_yaml(catalog.files)
    runs = set(catalog.runs)
    sessions = []
    for run in natural_order({*starts, *(run for run, params in beside.items() if params)}):
        params = {**beside.get(run, {})}
        session = _Session(run, params, run)
        if run in starts:
            start = starts[run].session_start_info
            params |= {name: value_of(value) for name, value in start.hparams.items()}
            session = session._replace(
                group=start.group_name or run,
                start_time=start.start_time_secs or math.nan,
                model_uri=start.model_uri,
                monitor_url=start.monitor_url,
            )
        if run in ends:
            end = ends[run].session_end_info
            session = session._replace(status=_label(_STATUSES, end.status), end_time=end.end_time_secs or math.nan)
        # PyTorch and tensorboardX write all three messages into a sub-run; TensorFlow the experiment elsewhere.
        above = run.rpartition("/")[0] or "."
        if fold and run in starts and run in experiments and run in ends and run != "." and above in runs:
            session = session._replace(parent=above)
        sessions.append(session)
    return sessions


def _label(labels: Iterable[str], number: int) -> str:
    return dict(enumerate(labels)).get(number, str(number))


def _session_columns(sessions: list[_Session], fold: bool) -> dict[str, Any]:
    of = [session.parent or session.run for session in sessions]
    names = natural_order(set(of))
    place = {name: i for i, name in enumerate(names)}
    code = np.array([place[name] for name in of], np.int64)
    text = functools.partial(pd.Series, dtype=object)
    columns: dict[str, Any] = {"run": categories(names, np.ones(len(of), np.int64), code)}
    if fold:
        columns["session"] = text([session.run for session in sessions])
    columns["group"] = text([session.group for session in sessions])
    columns["status"] = text([session.status for session in sessions])
    columns["start_time"] = np.array([session.start_time for session in sessions], np.float64)
    columns["end_time"] = np.array([session.end_time for session in sessions], np.float64)
    for name in ("model_uri", "monitor_url"):
        values = [getattr(session, name) for session in sessions]
        if any(values):
            columns[name] = text(values)
    params = natural_order({name for session in sessions for name in session.params})
    shape = len(params), len(sessions)
    filled = sum(len(session.params) for session in sessions) / max(math.prod(shape), 1)
    refuse_padding("hparams", {"hyperparameter": shape[0], "session": shape[1]}, shape, filled)
    for name in params:
        columns[f"params.{name}"] = param_column([session.params.get(name) for session in sessions])
    return columns


def _experiment(run: str, experiment: Any) -> dict[str, Any]:  # noqa: ANN401 - a protobuf message
    """Tell what an experiment declares, in plain values."""
    return {
        "run": run,
        "name": experiment.name,
        "description": experiment.description,
        "user": experiment.user,
        "time_created": experiment.time_created_secs or math.nan,
        "params": [{**_described(info), **_domain(info)} for info in experiment.hparam_infos],
        "metrics": [
            {
                "group": info.name.group,
                "tag": info.name.tag,
                "display_name": info.display_name,
                "description": info.description,
                "dataset": _label(_DATASETS, info.dataset_type),
            }
            for info in experiment.metric_infos
        ],
    }


def _described(info: Any) -> dict[str, Any]:  # noqa: ANN401 - a protobuf message
    return {
        "name": info.name,
        "display_name": info.display_name,
        "description": info.description,
        "type": _label(_TYPES, info.type),
    }


def _domain(info: Any) -> dict[str, Any]:  # noqa: ANN401 - a protobuf message
    domain = info.WhichOneof("domain")
    if domain == "domain_discrete":
        return {"values": [value_of(value) for value in info.domain_discrete.values]}
    if domain == "domain_interval":
        return {"min": info.domain_interval.min_value, "max": info.domain_interval.max_value}
    return {}
