"""The desk's HTML document: where its server is, said before Streamlit's client starts to guess."""

from collections.abc import Iterator

import httpx
import pytest
from starlette.responses import HTMLResponse, PlainTextResponse
from starlette.types import Receive, Scope, Send

from lib.serving.front import DeskDocument, streamlit_parts
from lib.ui.streamlit_compat import STATIC
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


CLIENT = '<script type="module" crossorigin src="./static/js/index.Ab-1.js"></script>'
AHEAD = '<link rel="modulepreload" crossorigin href="./static/js/a.js">'
LINK = "/audience?project=demo&slicer=delivery"


def document(head: str, path: str) -> str:
    """What a desk with figures on Audience makes of a document with this head, at this address."""

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse(PAGE.replace("<title>x</title>", head))(scope, receive, send)

    desk = DeskDocument(page, figures={"audience": "overview.js?1"})
    with httpx.Client(transport=InProcess(desk), base_url="http://desk") as client:
        response = client.get(path, headers=HTML)
    assert response.headers["content-length"] == str(len(response.content))
    return response.text


def test_a_link_to_figures_asks_before_the_client_runs() -> None:
    """The module of the figures comes first; the client and what is loaded ahead wait for the script."""
    text = document(CLIENT + AHEAD, LINK)
    assert '<script src="./desk.js" data-early></script>' in text
    assert '<script type="module" src="./overview.js?1"></script>' in text
    assert '<link rel="modulepreload" crossorigin href="./static/js/index.Ab-1.js" data-client>' in text
    assert CLIENT not in text
    assert AHEAD.replace("modulepreload", "x-later") in text


@pytest.mark.parametrize(
    ("head", "path"),
    [
        (CLIENT, "/deals?project=demo&slicer=delivery"),
        (CLIENT, "/audience?project=demo"),
        (CLIENT.replace("module", "classic"), LINK),
        (CLIENT * 2, LINK),
        ("", LINK),
    ],
    ids=["another screen", "no slicer", "another script", "two scripts", "no script"],
)
def test_other_documents_start_their_client_themselves(head: str, path: str) -> None:
    """Without a link to figures, or with a client that is started in another way, nothing waits."""
    text = document(head, path)
    assert head in text
    assert f"    {TAG}" in text
    assert "overview.js" not in text


def test_the_client_of_today_can_wait() -> None:
    """Streamlit's document starts its client by the one tag that we know: else links show figures later."""
    document = streamlit_parts.defer_scripts((STATIC / "index.html").read_bytes())
    assert document is not None
    assert b"data-client" in document
    assert b'rel="modulepreload" crossorigin href="./static/js/index.' in document


def test_modules_stay_in_the_browser_by_their_version() -> None:
    """A module of ours is served beside every screen; asked for by its version it stays there."""
    desk = DeskDocument(PlainTextResponse("none"), modules={"overview.js": "export {}"})
    with httpx.Client(transport=InProcess(desk), base_url="http://desk") as client:
        versioned, plain = client.get("/below/overview.js?1"), client.get("/overview.js")
    assert versioned.text == plain.text == "export {}"
    assert "immutable" in versioned.headers["cache-control"]
    assert plain.headers["cache-control"] == "no-cache"
