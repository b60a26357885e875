"""What the server writes to its log when it starts."""

import json
import subprocess
import sys

from documents import ROOT


def test_libraries_are_silent_at_the_start() -> None:
    """The sign-in's library declares components before a page runs, and nobody is warned of that."""
    code = "from lib.front import logs; logs.log('info'); import streamlit_authenticator"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ScriptRunContext" not in done.stdout + done.stderr


def test_an_error_of_a_screen_is_a_line_of_the_log() -> None:
    """What a screen raises goes to standard error, as one JSON object with its traceback."""
    code = """if True:
        from streamlit import config
        from streamlit.error_util import handle_user_script_exception
        from lib.front import logs
        config.get_option("logger.level")
        logs.log("info", "json")
        handle_user_script_exception(ValueError("a broken screen"), lambda error: True)
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    assert [one["level"] for one in lines if "a broken screen" in one.get("traceback", "")] == ["error"]
    assert not done.stdout
