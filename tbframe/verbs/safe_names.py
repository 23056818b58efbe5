"""Names of runs and tags as parts of a path on any system, and back."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePath
from urllib.parse import unquote

__all__ = ["names_of", "safe_paths"]

_SUFFIX = ".csv"
_LONGEST = 255
"""Bytes that a part of a path may have."""
_UNSAFE = re.compile(r'[%<>:"/\\|?*\x00-\x1f\x7f\ud800-\udfff]|[. ]\Z')
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
_DOWNLOAD = re.compile(r"run-(?P<run>.*?)-tag-(?P<tag>.*)", re.DOTALL)
"""How TensorBoard's page names the CSV files it offers for download."""
_EMPTY = "%"
"""Stands for the empty name: every other % is followed by two digits."""


def safe_paths(series: Iterable[tuple[str, str]]) -> dict[tuple[str, str], PurePath]:
    """Choose a file for each series, below a common folder.

    Parameters
    ----------
    series : iterable of (str, str)
        Run and tag of each.

    Returns
    -------
    dict
        By run and tag, the relative path ``run/tag.csv``. What some system does not allow in names is written as in
        URLs (``/`` in tags as ``%2F``), and so are the capitals and accents of names that differ in nothing else.

    Raises
    ------
    ValueError
        If a name is too long for a file.

    Examples
    --------
    >>> [path.as_posix() for path in safe_paths([("a/b", "train/loss"), (".", "lr")]).values()]
    ['a/b/train%2Floss.csv', 'lr.csv']
    """
    series = list(series)
    folders = {run: [_safe_folder(part) for part in run.split("/")] if run != "." else [] for run, _ in series}
    files = {tag: _safe_file(tag) for _, tag in series}
    parts = {part for folder in folders.values() for part in folder} | set(files.values())
    alike = Counter(map(_folded, parts))
    distinct = {part: _spelled_out(part) if alike[_folded(part)] > 1 else part for part in parts}
    for part, name in distinct.items():
        if len(name.encode()) > _LONGEST:
            raise ValueError(
                f"{part!r} is too long for the name of a file; style='tidy' writes one file with any names"
            )
    return {
        (run, tag): PurePath(*(distinct[part] for part in folders[run]), distinct[files[tag]]) for run, tag in series
    }


def names_of(path: PurePath) -> tuple[str, str]:
    """Tell run and tag from the path of a series' file: the inverse of `safe_paths`.

    Parameters
    ----------
    path : PurePath
        Relative to the folder of the export, or the bare name of a file that TensorBoard's page offered.

    Returns
    -------
    run, tag : str
        The names. TensorBoard's page calls its files ``run-RUN-tag-TAG.csv``.

    Examples
    --------
    >>> names_of(PurePath("a/b/train%2Floss.csv"))
    ('a/b', 'train/loss')
    >>> names_of(PurePath("run-adam-tag-lr.csv"))
    ('adam', 'lr')
    """
    *folders, file = path.parts
    stem = file.removesuffix(_SUFFIX)
    download = _DOWNLOAD.fullmatch(stem)
    if download and not folders:
        return download["run"], download["tag"]
    return "/".join(map(_original, folders)) if folders else ".", _original(stem)


def _safe(name: str) -> str:
    """Escape what some system does not allow in a name."""
    if name in ("", ".", ".."):
        return _EMPTY if not name else name.replace(".", "%2E")
    safe = _UNSAFE.sub(lambda found: _escape(found[0]), name)
    return _escape(safe[0]) + safe[1:] if _DEVICES.match(safe) else safe


def _safe_folder(name: str) -> str:
    safe = _safe(name)
    # A folder named like a file could meet that file.
    return safe[: -len(_SUFFIX)] + "%2E" + safe[-3:] if safe.lower().endswith(_SUFFIX) else safe


def _safe_file(name: str) -> str:
    safe = _safe(name)
    return (_escape(safe[0]) + safe[1:] if _DOWNLOAD.match(safe) else safe) + _SUFFIX


def _folded(part: str) -> str:
    """Make alike what a file system that knows no case, or only composed letters, takes for one name."""
    return unicodedata.normalize("NFKC", part.casefold())


def _spelled_out(safe: str) -> str:
    """Escape all that does not stay as it is on such a system."""
    return re.sub(r"(%[0-9A-F]{2})|[^a-z]", lambda found: found[1] or _spelled(found[0]), safe)


def _spelled(character: str) -> str:
    return character if character.isascii() and character == character.lower() else _escape(character)


def _escape(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode("utf-8", "surrogatepass"))


def _original(safe: str) -> str:
    return "" if safe == _EMPTY else unquote(safe, errors="surrogatepass")
