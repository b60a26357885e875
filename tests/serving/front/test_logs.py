"""What the server writes to its log when it starts."""

import json
import logging
import subprocess
import sys
from collections.abc import Iterator

import pytest
from documents import ROOT

from lib.serving.front.logs import OncePerMinute

LOGGER = logging.getLogger("tests.once_per_minute")


@pytest.fixture
def once_per_minute() -> Iterator[OncePerMinute]:
    """The filter on a logger of this test, whose minute ends when the test says so."""
    log_filter = OncePerMinute(seconds=3600)
    LOGGER.addFilter(log_filter)
    yield log_filter
    LOGGER.removeFilter(log_filter)


def broken(name: str) -> None:
    """Log what goes wrong here, or one line below."""
    try:
        if name == "zero":
            1 / 0  # noqa: B018
        int(name)
    except (ArithmeticError, ValueError):
        LOGGER.exception("%s failed", name)


def test_what_callers_cause_is_one_line_a_minute(
    once_per_minute: OncePerMinute, caplog: pytest.LogCaptureFixture
) -> None:
    """The first is written at once, the others as a number at the end of each minute, until none came."""
    written = []
    for count in (300, 40, 0, 1):
        for number in range(count):
            LOGGER.warning("A request from %s is malformed", number)
        once_per_minute.write()
        written.append([record.getMessage() for record in caplog.records])
        caplog.clear()
    assert written == [
        ["A request from 0 is malformed", "A request from 299 is malformed (299 more in 3600 seconds)"],
        ["A request from 39 is malformed (40 more in 3600 seconds)"],
        [],
        ["A request from 0 is malformed"],
    ]


def test_each_fault_is_written_with_its_traceback(
    once_per_minute: OncePerMinute, caplog: pytest.LogCaptureFixture
) -> None:
    """Faults of different lines of code are of different kinds, whatever they are about."""
    for name in ("zero", "x", "zero", "y"):
        broken(name)
    assert [record.getMessage() for record in caplog.records] == ["zero failed", "x failed"]
    assert all(record.exc_info for record in caplog.records)


def test_libraries_are_silent_at_the_start() -> None:
    """The sign-in's library declares components before a page runs, and nobody is warned of that."""
    done = subprocess.run(
        [sys.executable, "-c", "import app"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout + done.stderr == ""


def test_an_error_of_a_screen_is_a_line_of_the_log() -> None:
    """What a screen raises goes to standard error, as one JSON object with its traceback."""
    code = """if True:
        from streamlit import config
        from streamlit.error_util import handle_user_script_exception
        from lib.serving.front import logs
        config.get_option("logger.level")
        logs.log("info", "json")
        handle_user_script_exception(ValueError("a broken screen"), lambda error: True)
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["level"] for line in lines if "a broken screen" in line.get("traceback", "")] == ["error"]
    assert not done.stdout
