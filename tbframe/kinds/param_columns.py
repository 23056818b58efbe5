"""Hyperparameters as columns: one type for each, whatever the sessions logged."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

__all__ = ["Value", "as_text", "param_column", "value_of"]

Value: TypeAlias = "float | bool | str | None"


def value_of(value: Any) -> Value:  # noqa: ANN401 - a protobuf message
    """Turn a google.protobuf.Value into what a cell holds.

    Parameters
    ----------
    value : message
        A google.protobuf.Value.

    Returns
    -------
    float, bool, str or None
        Lists and structures as JSON; None for a null or nothing.
    """
    kind = value.WhichOneof("kind")
    if kind is None or kind == "null_value":
        return None
    if kind in ("list_value", "struct_value"):
        return json.dumps(_plain(value), ensure_ascii=False)
    found: Value = getattr(value, kind)
    return found


def _plain(value: Any) -> Any:  # noqa: ANN401 - a protobuf message, and what JSON can hold
    kind = value.WhichOneof("kind")
    if kind == "list_value":
        return [_plain(item) for item in value.list_value.values]
    if kind == "struct_value":
        fields = value.struct_value.fields
        return {name: _plain(fields[name]) for name in sorted(fields)}  # a map has no order of its own
    return value_of(value)


def param_column(values: Sequence[Value]) -> pd.Series:
    """Build the column of one hyperparameter.

    Parameters
    ----------
    values : sequence of float, bool, str or None
        Of each session; None where it has none.

    Returns
    -------
    pandas.Series
        float64 if all are numbers (missing: NaN); boolean (pandas' own, missing: NA) if all are booleans; else str, as
        object (missing: None).

    Examples
    --------
    >>> param_column([0.1, None]).tolist()
    [0.1, nan]
    >>> param_column([32.0, "auto", True, None]).tolist()
    ['32', 'auto', 'True', None]
    """
    types = {type(value) for value in values if value is not None}
    if types == {bool}:
        missing = np.array([value is None for value in values])
        return pd.Series(pd.arrays.BooleanArray(np.array([value is True for value in values]), missing))
    if types <= {float, int}:
        return pd.Series([math.nan if value is None else value for value in values], dtype=np.float64)
    return pd.Series([None if value is None else as_text(value) for value in values], dtype=object)


def as_text(value: float | bool | str) -> str:
    """Write a value as text.

    Parameters
    ----------
    value : float, bool or str
        The value.

    Returns
    -------
    str
        A text as it is, a whole number without its ``.0``, other numbers as short as they can be read back.

    Examples
    --------
    >>> as_text(32.0), as_text(0.1), as_text(1e300), as_text(False)
    ('32', '0.1', '1e+300', 'False')
    """
    if isinstance(value, str | bool):
        return str(value)
    return repr(float(value)).removesuffix(".0")
