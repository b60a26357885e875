"""What finds a thread that asks for a session: it finds one, wherever the call runs."""

import threading

import threads

from lib.figures import waits
from lib.ui.kit import reader
from lib.ui.query import history


def test_a_thread_that_asks_for_a_session_is_found() -> None:
    """Streamlit gives it an empty one, and nobody would know."""
    thread = threading.Thread(target=history.params, name="a download")
    thread.start()
    thread.join()
    assert "a download" in threads.faults[0]
    assert "ui/query/history.py" in threads.faults[0]
    threads.faults.clear()


def test_a_call_that_may_be_a_threads_is_held_to_it_at_once() -> None:
    """Answers that come quickly are computed where they are needed, others on a thread."""
    waits.call("a question", reader.locale)
    assert "ui/kit/reader.py" in threads.faults[0]
    threads.faults.clear()


def test_a_call_with_all_that_it_needs_is_no_fault() -> None:
    """What was bound before the thread began is its own."""
    params = history.params()
    assert waits.call("a question", lambda: params) == params
    assert not threads.faults
