"""Modules of Streamlit's client that a screen's document names, in the installed version."""

import re
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
import streamlit
from starlette.responses import HTMLResponse
from starlette.types import Receive, Scope, Send

from lib.serving.front import DeskDocument, Preloads
from lib.serving.front.streamlit_parts import EVERYWHERE
from lib.wire.transport import InProcess

STATIC = Path(streamlit.__file__).parent / "static"
PAGE = "<!DOCTYPE html>\n<html><head><title>x</title></head><body></body></html>"


def named(tags: bytes) -> list[str]:
    """The addresses that these tags name."""
    return re.findall(r'href="\./([^"]+)"', tags.decode())


@pytest.mark.parametrize("element", EVERYWHERE)
def test_each_element_is_one_module(element: str) -> None:
    """The client has one module of each of these names."""
    assert len(list((STATIC / "static/js").glob(f"{element}.*.js"))) == 1


def test_each_module_once_with_all_that_it_imports() -> None:
    """All that is named is there, nothing twice and nothing that the document has; so are its imports."""
    document = (STATIC / "index.html").read_text()
    addresses = named(Preloads(STATIC).tags)
    assert len(addresses) == len(set(addresses)) > len(EVERYWHERE)
    files = {urlsplit(address).path for address in addresses}
    assert not [file for file in files if Path(file).name in document]
    whole = {Path(file).name for file in files}
    for file in files:
        text = (STATIC / file).read_text()
        imports = re.findall(r'(?:from|import)"\./([\w.-]+\.js)"', text)
        assert all(module in whole or module in document for module in imports)


def test_charts_wait_until_they_are_drawn() -> None:
    """The module of charts, 5 MB, is named nowhere: no screen opens on one."""
    assert not any("PlotlyChart" in file for file in named(Preloads(STATIC).tags))


def test_a_client_of_another_shape_is_left_alone(tmp_path: Path) -> None:
    """Where the client has no such modules, nothing is named."""
    assert Preloads(tmp_path).tags == b""


def test_they_are_in_the_document() -> None:
    """The tags stand at the end of the document's head."""

    async def desk(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse(PAGE)(scope, receive, send)

    preloads = Preloads(STATIC)
    transport = InProcess(DeskDocument(desk, preloads))
    with httpx.Client(transport=transport, base_url="http://desk") as client:
        response = client.get("/audience", headers={"Accept": "text/html"})
    assert preloads.tags.decode() + "</head>" in response.text
    assert response.headers["content-length"] == str(len(response.content))
