"""The private parts of Streamlit's client and routes that the server's side relies on.

Streamlit promises none of them; all were last seen in version 1.67. Each has its sentence in `reaches`, which
says at start what is lost where a part is gone. The script's side of the same is lib/ui/streamlit_compat.py.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CORE = "/_stcore"
SOCKET, HEALTH, HOST_CONFIG = f"{CORE}/stream", f"{CORE}/health", f"{CORE}/host-config"
COMPONENTS = f"{CORE}/bidi-components/"
FRAMES = "/component/"
APP_FILES = "/app/static/"
MEDIA = "/media/"
LOGIN, CALLBACK, LOGOUT = "/auth/login", "/oauth2callback", "/auth/logout"
IDENTITY = "_streamlit_user"
"""The cookie in which Streamlit keeps the claims of the company's provider."""

MODULES, PAGE = "static/js", "index.html"
HEAD, HEAD_END, BODY_END = b"<head>", b"</head>", b"</body>"
EVERYWHERE = ("BidiComponent", "Button", "ButtonGroup", "Html", "MenuButton", "Selectbox")
SELECTORS: Mapping[str, tuple[str, ...]] = {
    "BidiComponent": ("stBidiComponent",),
    "ButtonGroup": ("stButtonGroup",),
    "DataFrame": ("stDataFrame", "stDataFrameResizable"),
    "DateTimeInput": ("stDateTimeInput",),
    "DownloadButton": ("stDownloadButtonError",),
    "DynamicIcon": ("stIconMaterial",),
    "ImageList": ("stImage",),
    "Metric": ("stMetric", "stMetricDelta", "stMetricLabel", "stMetricValue"),
    "Multiselect": ("stMultiSelect",),
    "PageLink": ("stPageLink",),
    "PlotlyChart": ("stPlotlyChart",),
    "Selectbox": ("stSelectbox",),
    "StreamlitMarkdown": ("stCaptionContainer", "stMarkdownContainer"),
    "StreamlitSyntaxHighlighter": ("stCode",),
    "Toolbar": ("stElementToolbar",),
    "WidgetLabel": ("stWidgetLabelRequired",),
    "withFullScreenWrapper": ("stFullScreenFrame",),
    "index": (
        "stApp",
        "stColumn",
        "stElementContainer",
        "stHorizontalBlock",
        "stLayoutWrapper",
        "stMain",
        "stMainBlockContainer",
        "stPopoverBody",
        "stPopoverButton",
        "stSidebarCollapseButton",
        "stSidebarNavLink",
        "stTopNavLink",
        "stVerticalBlock",
        "st-key-",
        "data-stale",
    ),
}
"""Test ids, classes and attributes that our styles and scripts select by → the module that draws them."""
_CLIENT = re.compile(rb'<script type="module" crossorigin src="(\./static/js/index\.[\w-]+\.js)"></script>')
_IMPORTS = re.compile(r'(?:from|import)"\./([\w.-]+\.js)"')
_FIRST = 10_000


@dataclass(frozen=True)
class Reach:
    """A private part of another program: its name, what is lost without it, and whether it is there."""

    part: str
    loss: str
    is_there: Callable[[], bool]


def page(static: Path) -> str:
    """The HTML document of Streamlit's client; empty if there is none. `static` is the client's folder."""
    document = static / PAGE
    return document.read_text("utf-8") if document.is_file() else ""


def modules(static: Path, name: str) -> list[Path]:
    """The files of the client's module of this name: one, as its file's name has a digest too."""
    return [*(static / MODULES).glob(f"{name}.*.js")]


def imports(module: Path) -> list[str]:
    """The names of the files that a module imports, which it does in its first line."""
    with module.open(encoding="utf-8") as file:
        return _IMPORTS.findall(file.read(_FIRST))


def insert(document: bytes, head: bytes, head_end: bytes, body_end: bytes) -> bytes:
    """The document with more at the begin and end of its head, and at the end of its body.

    Where it has no such tag, nothing is inserted there.
    """
    document = document.replace(HEAD, HEAD + head, 1)
    document = document.replace(HEAD_END, head_end + HEAD_END, 1)
    return document.replace(BODY_END, body_end + BODY_END, 1)


def defer_scripts(document: bytes) -> bytes | None:
    """The document with its client, and all that is loaded ahead for it, for a script of ours to start.

    None where it is not one script of the kind that we know.
    """
    if len(_CLIENT.findall(document)) != 1 or document.count(b"<script type=") != 1:
        return None
    document = document.replace(b'rel="modulepreload"', b'rel="x-later"')
    return _CLIENT.sub(rb'<link rel="modulepreload" crossorigin href="\1" data-client>', document)


def missing_selectors(static: Path) -> list[str]:
    """Those of `SELECTORS` that the client does not have."""
    return [
        selector
        for module, selectors in SELECTORS.items()
        for selector in selectors
        if not any(selector.encode() in path.read_bytes() for path in modules(static, module))
    ]


def reaches(static: Path) -> Iterator[Reach]:
    """The parts of the client in this folder, each with what is lost without it."""
    yield Reach(
        "the tags head and body of its document",
        "screens lack Tranche's style, names for screen readers, and preloads",
        lambda: all(tag in page(static).encode() for tag in (HEAD, HEAD_END, BODY_END)),
    )
    yield Reach(
        "the tag of its client's script",
        "a link to figures shows them later",
        lambda: defer_scripts(page(static).encode()) is not None,
    )
    yield Reach(
        "window.__streamlit",
        "each page asks for one address more before it starts",
        lambda: any(b"__streamlit" in path.read_bytes() for path in modules(static, "index")),
    )
    yield Reach(
        f"one module each of {', '.join(EVERYWHERE)}",
        "screens load these later",
        lambda: all(len(modules(static, name)) == 1 for name in EVERYWHERE),
    )
    yield Reach(
        f"what styles select by ({', '.join(missing_selectors(static))})",
        "parts of screens look different",
        lambda: not missing_selectors(static),
    )
