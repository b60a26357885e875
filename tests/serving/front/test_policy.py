"""The headers with which a browser confines a page to this server, on every answer."""

import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from conftest import ROOT, copied, desk_over, started

from lib.serving.front import inline_scripts

SERVE = [sys.executable, "-c", "from lib.cli import main; main()", "serve", "--port", "0"]

PATHS = (
    *("/", "/audience", "/static/nothing", "/media/x", "/_stcore/health", "/_stcore/metrics"),
    *("/docs", "/docs/assets/swagger-ui.css", "/openapi.json"),
    *("/API/v2/info", "/api/seats/", "/api/nothing", "/oauth2/token/", "/mcp"),
)


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a desk with its APIs."""
    with desk_over(copied(home, tmp_path_factory.mktemp("policy") / "home")) as (address, _):
        yield address


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[str]:
    """The address of the APIs alone."""
    with started(SERVE, home) as address:
        yield address


def _directives(answer: httpx.Response) -> dict[str, list[str]]:
    parts = (part.split() for part in answer.headers["content-security-policy"].split(";"))
    return {name: sources for name, *sources in parts}


def _check(answer: httpx.Response) -> None:
    directives = _directives(answer)
    for kind, sources in directives.items():
        allowed = {"'self'", "'none'", "blob:", "data:"} | (
            {"'unsafe-inline'"} if kind == "style-src" else set()
        )
        assert {source for source in sources if not source.startswith("'sha256-")} <= allowed, kind
    assert {"default-src", "script-src", "style-src", "img-src", "frame-ancestors"} <= directives.keys()
    assert "data:" not in directives["script-src"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "same-origin"


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_of_the_desk(desk: str, path: str) -> None:
    """Pages, files, API answers and errors allow this server alone, and no frame around them."""
    answer = httpx.get(f"{desk}{path}")
    _check(answer)
    assert (answer.headers["x-frame-options"], _directives(answer)["frame-ancestors"]) == ("DENY", ["'none'"])


@pytest.mark.parametrize("path", ["/", "/docs", "/openapi.json", "/API/v2/info", "/api/seats/", "/mcp"])
def test_every_answer_of_the_apis_alone(served: str, path: str) -> None:
    """`tranche serve` sends the same headers."""
    answer = httpx.get(f"{served}{path}")
    _check(answer)
    assert answer.headers["x-frame-options"] == "DENY"


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_inline_scripts_run_by_their_hash(desk: str, path: str) -> None:
    """The scripts that stand in a page are allowed one by one: `'unsafe-inline'` is not needed."""
    answer = httpx.get(f"{desk}{path}")
    hashes = inline_scripts(answer.text)
    assert hashes
    assert set(hashes) <= set(_directives(answer)["script-src"])


def test_cookies_of_scripts_are_secure_behind_tls() -> None:
    """Every cookie that a script of ours sets ends with Secure where the page came over https."""
    scripts = [path for kind in ("*.js", "*.py") for path in (ROOT / "lib").rglob(kind)]
    cookies = [
        line for path in scripts for line in path.read_text().splitlines() if "document.cookie = `" in line
    ]
    assert len(cookies) == 2
    assert all("SameSite=Lax${secure}`" in line for line in cookies)
