"""Progress bars: one at a time in a thread, and a new one after the last is done or left."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from ir_lexirecall._util.progress import progress_bar


def shown(capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Return the names of the bars that were written."""
    written = capsys.readouterr().err
    return {
        name for name in ("outer", "inner", "next", "other") if f"{name}:" in written
    }


def test_no_bar_is_shown_within_another(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in progress_bar(True, "ab", desc="outer"):
        assert list(progress_bar(True, "cd", desc="inner")) == ["c", "d"]
    assert shown(capsys) == {"outer"}
    list(progress_bar(True, "ef", desc="next"))
    assert shown(capsys) == {"next"}


def test_a_bar_that_ends_by_an_error_hides_no_later_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise ValueError("stopped")

    with pytest.raises(ValueError, match="stopped"):
        list(progress_bar(True, failing(), desc="outer"))
    list(progress_bar(True, "ab", desc="next"))
    assert shown(capsys) == {"outer", "next"}


def test_other_threads_have_bars_of_their_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for _ in progress_bar(True, "a", desc="outer"):
        thread = threading.Thread(
            target=lambda: list(progress_bar(True, "b", desc="other"))
        )
        thread.start()
        thread.join()
    assert shown(capsys) == {"outer", "other"}
