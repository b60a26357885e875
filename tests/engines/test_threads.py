"""The server's log for threads that end with an exception."""

import threading

import pytest
from streamlit.runtime.scriptrunner import StopException

from app import report


@pytest.fixture(autouse=True)
def _reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "excepthook", report)


def end_with(error: BaseException) -> None:
    """Let a timer end with this exception."""

    def fail() -> None:
        raise error

    timer = threading.Timer(0, fail)
    timer.start()
    timer.join()


def test_a_stopped_run_is_no_failure(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """A timer of Streamlit's that finds its run stopped leaves no traceback in the log."""
    end_with(StopException())
    assert (capsys.readouterr().err, caplog.text) == ("", "")


def test_failures_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    """Any other exception of a thread is logged with its traceback."""
    end_with(ValueError("a fault of ours"))
    assert "Traceback" in caplog.text
    assert "ValueError: a fault of ours" in caplog.text
