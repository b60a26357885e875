"""The desk's HTML document: where its server is, said before Streamlit's client starts to guess."""

from collections.abc import Iterator

import httpx
import pytest
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import Receive, Scope, Send

from lib.front import DeskDocument
from lib.wire.transport import InProcess

PAGE = "<!DOCTYPE html>\n<html><head><title>x</title></head><body>ü</body></html>"
TAG = '<script src="./desk.js"></script>'
HTML = {"Accept": "text/html,*/*", "Accept-Encoding": "gzip"}


async def desk(scope: Scope, receive: Receive, send: Send) -> None:
    """A page at every address but one, and the encodings that were accepted."""
    accepted = dict(scope["headers"]).get(b"accept-encoding", b"").decode()
    if scope["path"] == "/text":
        await PlainTextResponse(PAGE)(scope, receive, send)
    else:
        await HTMLResponse(PAGE, headers={"X-Accepted": accepted})(scope, receive, send)


@pytest.fixture
def http() -> Iterator[httpx.Client]:
    """A client of that desk behind the middleware."""
    with httpx.Client(transport=InProcess(DeskDocument(desk)), base_url="http://desk") as client:
        yield client


@pytest.mark.parametrize("path", ["/", "/audience", "/audience?split=x"])
def test_every_document_loads_the_script_first(http: httpx.Client, path: str) -> None:
    """Whatever the address, the document is as it was, with the script first in its head, and whole."""
    response = http.get(path, headers=HTML)
    assert response.text == PAGE.replace("<head>", f"<head>\n    {TAG}")
    assert response.headers["content-length"] == str(len(response.content))
    assert response.headers["x-accepted"] == ""


def test_the_script_names_the_server(http: httpx.Client) -> None:
    """The script is served beside every screen and says that the server is where the script came from."""
    response = http.get("/desk.js")
    assert response.headers["content-type"].startswith("text/javascript")
    assert 'window.trancheServer = new URL(".", document.currentScript.src).href' in response.text
    assert "window.__streamlit = { BACKEND_BASE_URL: window.trancheServer }" in response.text


def test_other_answers_stay(http: httpx.Client) -> None:
    """What is no screen's document, or asked for by no browser's address bar, passes unchanged."""
    assert http.get("/text", headers=HTML).text == PAGE
    assert http.get("/audience", headers={"Accept": "application/json"}).text == PAGE
    assert http.head("/audience", headers=HTML).headers["content-length"] == str(len(PAGE.encode()))


def test_the_style_comes_last() -> None:
    """A style of our own stands at the end of the body, after all that Streamlit's client adds."""
    style = ".stApp { color: red; }\n"
    transport = InProcess(DeskDocument(desk, style=style))
    with httpx.Client(transport=transport, base_url="http://desk") as client:
        text = client.get("/audience", headers=HTML).text
    assert text.endswith(f"<style>\n{style}</style>\n</body></html>")
