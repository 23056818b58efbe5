"""Equal byte strings get equal numbers: tags, and whatever else repeats from value to value."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tbframe.events.wire import Buffer, Ints, Words

__all__ = ["Interner"]

_WORDS: Final = 32
"""Byte strings of up to this many words are compared as arrays, longer ones one by one."""
_MIX: Final = np.random.default_rng(20170214).integers(1, 2**63, size=_WORDS + 1, dtype=np.uint64) | np.uint64(1)
_KEEP: Final = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
"""Keeps the first n bytes of a little-endian word."""


class Interner:
    """Number byte strings in the order in which they are first met.

    The strings of many rows are hashed eight bytes at a time; equal hashes get one code, and then every row's words are
    compared with those of its code, so that a collision cannot pass.

    Attributes
    ----------
    names : list of bytes
        The string of each code.
    """

    def __init__(self) -> None:
        self.names: list[bytes] = []
        self._code: dict[bytes, int] = {}
        self._by_hash: dict[int, int] = {}
        self._sizes: Ints = np.zeros(16, np.int64)
        self._words: list[Words] = []

    def __len__(self) -> int:
        return len(self.names)

    def code(self, name: bytes) -> int:
        """Return the code of one string, a new one if it was never met.

        Parameters
        ----------
        name : bytes
            The string.

        Returns
        -------
        int
            Its code.
        """
        code = self._code.get(name)
        if code is None:
            code = self._code[name] = len(self.names)
            self.names.append(name)
            self._remember(code, name)
        return code

    def codes(self, buffer: Buffer, at: Ints, size: Ints) -> npt.NDArray[np.int32]:
        """Return the codes of many strings.

        Parameters
        ----------
        buffer : Buffer
            Where they lie.
        at, size : ndarray of int64, shape (n,)
            Where each starts, and its number of bytes.

        Returns
        -------
        ndarray of int32, shape (n,)
            The code of each.
        """
        if not len(at):
            return np.zeros(0, np.int32)
        key, words, long = _hash(buffer, at, size)
        local, hashes = pd.factorize(key)
        known = [self._by_hash.get(h, -1) for h in hashes.tolist()]
        if -1 in known:
            known = self._meet(buffer, at, size, local, hashes, known)
        codes: npt.NDArray[np.int32] = np.array(known, np.int32)[local]
        wrong = self._sizes[codes] != size
        for k, (rows, word) in enumerate(words):
            if k == len(self._words):
                break  # longer than any string that is known, of which the sizes told
            differs = self._words[k][codes if rows is None else codes[rows]] != word
            if differs.any():
                wrong[differs if rows is None else rows[differs]] = True
        wrong[long] = True  # their hash covers only their beginning
        for i in np.flatnonzero(wrong).tolist():
            codes[i] = self.code(buffer.view[at[i] : at[i] + size[i]].tobytes())
        return codes

    def _meet(
        self, buffer: Buffer, at: Ints, size: Ints, local: Ints, hashes: npt.NDArray[np.uint64], known: list[int]
    ) -> list[int]:
        """Give codes to the hashes that are new, by the string of the first row of each."""
        first = np.empty(len(hashes), np.int64)
        first[local[::-1]] = np.arange(len(local) - 1, -1, -1)
        for j, code in enumerate(known):
            if code < 0:
                i = first[j]
                known[j] = self.code(buffer.view[at[i] : at[i] + size[i]].tobytes())
                self._by_hash[int(hashes[j])] = known[j]
        return known

    def _remember(self, code: int, name: bytes) -> None:
        """Keep a string as words too, to compare with."""
        if code >= len(self._sizes):
            self._sizes = np.concatenate([self._sizes, np.zeros_like(self._sizes)])
            self._words = [np.concatenate([w, np.zeros_like(w)]) for w in self._words]
        self._sizes[code] = len(name)
        words = np.frombuffer(name[: 8 * _WORDS].ljust(-(-len(name[: 8 * _WORDS]) // 8) * 8, b"\0"), "<u8")
        while len(self._words) < len(words):
            self._words.append(np.zeros(len(self._sizes), np.uint64))
        for k, word in enumerate(words):
            self._words[k][code] = word


def _hash(buffer: Buffer, at: Ints, size: Ints) -> tuple[Words, list[tuple[Ints | None, Words]], Ints]:
    """Hash byte strings: the hashes; for each word the rows that have it (None: all) and the words; the rows too long for it."""
    key = size.astype(np.uint64) * _MIX[_WORDS]
    words: list[tuple[Ints | None, Words]] = []
    top = int(size.max())
    shortest = int(size.min())
    for k in range(min(-(-top // 8), _WORDS)):
        # Only rows with bytes left take part: one long tag must not cost all rows.
        rows = None if shortest > 8 * k else np.flatnonzero(size > 8 * k)
        rest = (size if rows is None else size[rows]) - 8 * k
        word = buffer.u8[(at if rows is None else at[rows]) + 8 * k]
        if shortest < 8 * (k + 1):
            word &= _KEEP[np.minimum(rest, 8)]
        words.append((rows, word))
        mixed = (word ^ (word >> np.uint64(31))) * _MIX[k]
        if rows is None:
            key += mixed
        else:
            key[rows] += mixed
    return key, words, np.flatnonzero(size > 8 * _WORDS) if top > 8 * _WORDS else np.zeros(0, np.int64)
