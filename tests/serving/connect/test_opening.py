"""What a process opens for its settings, and what becomes of it."""

import gc
import threading
import weakref
from pathlib import Path

from lib.serving.connect import opening
from lib.settings import Settings

LOOKS = 900  # 45 s: longer than a thread without work lives (lib/wire/fair.py)
PATHS = ("/healthz", "/readyz", "/metrics", "/docs", "/openapi.json", "/openapi/deals.json", "/api/seats/")


def test_what_is_not_used_any_more_is_gone(tmp_path: Path) -> None:
    """FastAPI keeps each handler that it ever saw: no handler holds an installation, whatever was asked."""
    installation = opening._open.__wrapped__(Settings(home=tmp_path))  # outside of those that are kept
    answers = [installation.http.get(path).status_code for path in PATHS]
    answers.append(installation.http.post("/oauth2/token/", data={"scope": "reporting"}).status_code)
    answers.append(installation.http.post("/API/v2/info", json={"token": ""}).status_code)
    assert all(status < 500 for status in answers)
    gone = threading.Event()
    weakref.finalize(installation.api, gone.set)
    del installation
    for _ in range(LOOKS):
        gc.collect()
        if gone.wait(0.05):  # the thread that answered last may be about to end its work
            return
    raise AssertionError("the application is still there")


def test_installations_do_not_share_what_answers(tmp_path: Path) -> None:
    """Two installations of one process have the same routes, and each asks its own services."""
    first, other = (opening.installation(Settings(home=tmp_path / name)) for name in ("one", "other"))
    assert first.api.state.deals is not other.api.state.deals
    assert first.api.state.reporting.service is first.reporting
    assert other.api.state.reporting.service is other.reporting
