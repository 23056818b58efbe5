"""HistogramProto messages, many at a time: the histograms of TensorFlow 1, PyTorch and tensorboardX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tbframe import buckets
from tbframe.events.messages import message_class
from tbframe.events.wire import Buffer, read_varint
from tbframe.kinds.histogram_rows import STATISTICS, Decoded

__all__ = ["decode_protos"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_NUMBERS: Final = (0x09, 0x11, 0x19, 0x21, 0x29)
"""The keys of min, max, num, sum and sum_squares."""
_LIMITS, _COUNTS = 0x32, 0x3A
"""The keys of bucket_limit and bucket, packed."""


class _Fields(NamedTuple):
    """The fields of many messages."""

    statistics: Floats
    """Shape (n, 5)."""
    limits: Floats
    """Of all messages, end to end."""
    limit_lengths: Ints
    counts: Floats
    count_lengths: Ints


def decode_protos(
    buffer: Buffer, at: Ints, size: Ints, edges: buckets.Edges, failed: Callable[[int, str], None]
) -> Iterator[Decoded]:
    """Decode messages that lie in a buffer.

    Parameters
    ----------
    buffer : Buffer
        Where they lie.
    at, size : ndarray of int64, shape (n,)
        Where each starts, and how many bytes it has.
    edges : {"clipped", "logged"}
        See `tbframe.buckets.from_protos`.
    failed : callable
        Called with the number of each that cannot be decoded, and the reason.

    Yields
    ------
    Decoded
        Those that can.
    """
    which = np.arange(len(at))
    fields, odd = _parse(buffer, at, at + size)
    yield _decoded(fields, which[~odd], edges, failed)
    if odd.any():
        which, fields = _parse_singly(buffer, at, size, np.flatnonzero(odd), failed)
        yield _decoded(fields, which, edges, failed)


def _parse(buffer: Buffer, at: Ints, end: Ints) -> tuple[_Fields, Bools]:
    """Read messages as every known writer puts them: by field number, lists packed. Others are odd, and left out."""
    statistics = np.zeros((len(at), len(_NUMBERS)))
    at = at.copy()
    for column, key in enumerate(_NUMBERS):  # one that is 0 is not written
        there = _has(buffer, at, end, key)
        statistics[there, column] = buffer.f8[at[there] + 1]
        at[there] += 9
    odd = at > end
    begins, lengths = [], []
    for key in (_LIMITS, _COUNTS):
        there = _has(buffer, at, end, key) & ~odd
        length, width = read_varint(buffer, np.where(there, at + 1, 0))
        begin = at + 1 + width
        # Compared by subtraction: a claimed length near 2**63 must not wrap round.
        odd |= there & ((width == 0) | (length < 0) | (length > end - begin) | (length % 8 != 0))
        there &= ~odd
        begins.append(np.where(there, begin, 0))
        lengths.append(np.where(there, length, 0))
        at = np.where(there, begin + length, at)
    odd |= at != end
    good = ~odd
    limits, counts = (_doubles(buffer, b[good], n[good]) for b, n in zip(begins, lengths, strict=True))
    return _Fields(statistics[good], limits, lengths[0][good] // 8, counts, lengths[1][good] // 8), odd


def _has(buffer: Buffer, at: Ints, end: Ints, key: int) -> Bools:
    has: Bools = (at < end) & (buffer.bytes[np.minimum(at, end)] == key)
    return has


def _doubles(buffer: Buffer, begin: Ints, length: Ints) -> Floats:
    view = buffer.view
    return np.frombuffer(
        b"".join([view[b : b + n] for b, n in zip(begin.tolist(), length.tolist(), strict=True)]), "<f8"
    )


def _parse_singly(
    buffer: Buffer, at: Ints, size: Ints, which: Ints, failed: Callable[[int, str], None]
) -> tuple[Ints, _Fields]:
    from google.protobuf.message import DecodeError

    parse = message_class("HistogramProto").FromString
    good, messages = [], []
    for number in which.tolist():
        data = buffer.view[int(at[number]) : int(at[number] + size[number])].tobytes()
        try:
            messages.append(parse(data))
            good.append(number)
        except DecodeError:
            failed(number, f"the {len(data)} bytes are no HistogramProto message")
    statistics = np.array([[m.min, m.max, m.num, m.sum, m.sum_squares] for m in messages], np.float64)
    limits = [np.array(m.bucket_limit, np.float64) for m in messages]
    counts = [np.array(m.bucket, np.float64) for m in messages]
    return np.array(good, np.int64), _Fields(
        statistics.reshape(-1, len(STATISTICS)),
        np.concatenate([np.zeros(0), *limits]),
        np.array([len(part) for part in limits], np.int64),
        np.concatenate([np.zeros(0), *counts]),
        np.array([len(part) for part in counts], np.int64),
    )


def _decoded(fields: _Fields, which: Ints, edges: buckets.Edges, failed: Callable[[int, str], None]) -> Decoded:
    statistics, limits, limit_lengths, counts, count_lengths = fields
    found = buckets.from_protos(limits, limit_lengths, counts, count_lengths, statistics[:, 0], statistics[:, 1], edges)
    good = found.decodable
    for i in np.flatnonzero(~good).tolist():
        failed(
            int(which[i]),
            f"{int(count_lengths[i])} buckets have only {int(limit_lengths[i])} limits, so that it is not known where "
            "they lie",
        )
    if good.all():
        return Decoded(which, found.left, found.right, found.counts, found.buckets, statistics)
    return Decoded(
        which[good], found.left[good], found.right[good], found.counts[good], found.buckets[good], statistics[good]
    )
