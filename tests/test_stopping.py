"""What the log says when a server is stopped."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from serving import free_port

ROOT = Path(__file__).parent.parent
DESK = [sys.executable, "app.py"]
APIS = [sys.executable, "-c", "from lib.cli import main; main()", "serve"]


@pytest.mark.parametrize(
    ("command", "stop"), [(DESK, signal.SIGTERM), (APIS, signal.SIGINT)], ids=["desk", "serve"]
)
def test_a_stop_is_in_the_log(tmp_path: Path, command: list[str], stop: signal.Signals) -> None:
    """Which signal stopped the server, and that it ended in order, are in its log."""
    told = {"TRANCHE_HOME": str(tmp_path), "TRANCHE_PORT": str(free_port()), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, **told}, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        assert any(re.search(r"http://", line) for line in running.stdout)
        running.send_signal(stop)
        _, log = running.communicate(timeout=60)
    received, ended = (line for line in log.splitlines() if " lib.serving.front.server: " in line)
    assert received.endswith(f"Stopping, since the process received {stop.name}")
    assert ended.endswith("Stopped in order")
    assert "Traceback" not in log
