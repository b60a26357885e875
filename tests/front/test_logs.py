"""What the server writes to its log when it starts."""

import subprocess
import sys

from documents import ROOT


def test_libraries_are_silent_at_the_start() -> None:
    """The sign-in's library declares components before a page runs, and nobody is warned of that."""
    code = "from lib.front import logs; logs.log('info'); import streamlit_authenticator"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "ScriptRunContext" not in done.stdout + done.stderr
