"""Values that could not be decoded: one warning per run and tag, the rest is read."""

from __future__ import annotations

from tbframe.errors import UndecodableValueWarning, warn

__all__ = ["Undecodable"]


class Undecodable:
    """Collects what could not be decoded while a frame is built.

    Examples
    --------
    >>> import warnings
    >>> undecodable = Undecodable("images")
    >>> undecodable.add("train", "sample", 3, "the bytes are no image")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     undecodable.say()
    >>> print(caught[0].message)
    images: run 'train', tag 'sample': 1 value could not be decoded, first at step 3: the bytes are no image
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._found: dict[tuple[str, str], tuple[int, int, str]] = {}

    def add(self, run: str, tag: str, step: int, reason: str) -> None:
        """Note one value.

        Parameters
        ----------
        run, tag : str
            Its series.
        step : int
            Its step.
        reason : str
            What is wrong with it.
        """
        count, first, why = self._found.get((run, tag), (0, step, reason))
        self._found[run, tag] = count + 1, first, why

    def say(self) -> None:
        """Warn of each run and tag."""
        for (run, tag), (count, step, reason) in self._found.items():
            values = "1 value" if count == 1 else f"{count:,} values"
            warn(
                f"{self.kind}: run {run!r}, tag {tag!r}: {values} could not be decoded, first at step {step}: {reason}",
                UndecodableValueWarning,
            )
