"""The private parts of Streamlit: all in two files, and what is lost where a version lacks them."""

import ast
import importlib
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.testing.v1 import AppTest

from lib.serving.front import streamlit_parts
from lib.serving.front.streamlit_parts import SELECTORS
from lib.ui import streamlit_compat
from lib.ui.kit.media import OwnedMedia
from lib.wire.errors import Misconfigured

ROOT = Path(__file__).parents[2]
PUBLIC = {"streamlit", "streamlit.delta_generator", "streamlit.errors", "streamlit_authenticator"}
FILES = sorted([ROOT / "app.py", *(ROOT / "lib").rglob("*.py"), *(ROOT / "pages").glob("*.py")])
OURS = {"lib/ui/streamlit_compat.py", "lib/serving/front/streamlit_parts.py"}
NAMES = (
    "_session_mgr",
    "_session_storage",
    "_media_file_mgr",
    "_file_metadata",
    "_deferred_callables",
    "_create_streamlit_oauth_class",
    "is_history_navigation",
    "page_script_hash(",
    "parallel_coordinator",
    "_streamlit_user",
    "_stcore/",
    "PlotlyChart\\.",
)
SELECTED = re.compile(r"data-testid[*^]?=[\"']?(st\w+)|\.(st[A-Z]\w+)|(st-key-|data-stale)")
STYLES = [path for kind in ("css", "js", "py") for path in (ROOT / "lib").rglob(f"*.{kind}")]


def imported(path: Path) -> set[str]:
    """The modules of Streamlit and streamlit-authenticator that a file imports."""
    nodes = [*ast.walk(ast.parse(path.read_text()))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name for name in names if name.startswith("streamlit")}


def test_the_installed_version_has_all() -> None:
    """Nothing that the desk relies on is missing in the installed version."""
    assert streamlit_compat.check() == []


def overtaken() -> None:
    """A button whose click is followed by another message before its callback touches the session."""
    import streamlit as st
    from streamlit.runtime.scriptrunner import RerunData, get_script_run_ctx

    def save() -> None:
        run = get_script_run_ctx()
        run.script_requests.request_rerun(RerunData(run.query_string, page_script_hash=run.page_script_hash))
        st.session_state["saved"] = st.session_state.get("saved", 0) + 1

    st.button("Save", on_click=save)


def test_a_click_is_done_whole_where_another_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is asked for while the callback of a click runs waits for its end, and then comes."""
    for (module, name), call in zip(
        streamlit_compat.CALLBACK_PARTS, streamlit_compat.CALLBACK_CALLS, strict=True
    ):
        kind = getattr(importlib.import_module(f"streamlit.runtime.{module}"), name)
        monkeypatch.setattr(kind, call, getattr(kind, call))
    streamlit_compat.finish_callbacks()
    desk = AppTest.from_function(overtaken).run()
    assert not desk.button[0].click().run().exception
    assert desk.session_state["saved"] == 1


def fields() -> None:
    """Inputs with keys, and what the session then holds."""
    import streamlit as st

    for number in range(st.session_state["number"]):
        st.text_input("Name", "default", key=f"name_{number}")
    st.selectbox("Kind", ["a"], key="kind")
    st.session_state["held"] = {*st.session_state}


def test_an_input_looks_up_its_own_value_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many inputs look at most 2.5 times as often into the session; one that the session empties is
    empty, and what it holds can be listed."""
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
    streamlit_compat.look_up_single_values()
    looks = Counter[int]()
    look = SessionState.__getitem__

    def counted(self: SessionState, key: str) -> object:
        looks[number] += 1
        return look(self, key)

    monkeypatch.setattr(SessionState, "__getitem__", counted)
    for number in (40, 80):
        desk = AppTest.from_function(fields)
        desk.session_state["number"], desk.session_state["kind"] = number, None
        assert not desk.run().run().exception
    assert looks[80] < 2.5 * looks[40]
    assert (desk.text_input[-1].value, desk.selectbox[0].value) == ("default", None)
    assert {"number", "name_79", "kind"} <= desk.session_state["held"]


def test_other_files_import_what_is_public() -> None:
    """No other file imports a module of Streamlit's or streamlit-authenticator's that is not documented."""
    private_modules = {path.relative_to(ROOT).as_posix(): imported(path) - PUBLIC for path in FILES}
    assert not {path for path, modules in private_modules.items() if modules}


@pytest.mark.parametrize("name", NAMES)
def test_other_files_have_no_private_name(name: str) -> None:
    """A private name of Streamlit's stands in the two files for it alone; prose may name an address."""
    users = {
        path.relative_to(ROOT).as_posix()
        for path in FILES
        if re.search(rf'[."]{re.escape(name)}|"/{re.escape(name)}', path.read_text())
    }
    assert users <= OURS


def test_one_script_speaks_to_streamlits_client() -> None:
    """`window.__streamlit` is set by one script of ours, and read by none."""
    names = [path.name for path in (ROOT / "lib").rglob("*.js") if "__streamlit" in path.read_text("utf-8")]
    assert names == ["desk.js"]


def test_every_selector_is_listed() -> None:
    """What our styles and scripts select by of Streamlit's client is what `SELECTORS` lists."""
    used = {
        next(filter(None, groups))
        for path in STYLES
        if path.name != "streamlit_parts.py"
        for groups in SELECTED.findall(path.read_text("utf-8"))
    }
    assert used == {selector for selectors in SELECTORS.values() for selector in selectors}


def test_each_missing_part_has_its_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With a Streamlit that has none of the parts, the check names each of them, and what is lost."""
    monkeypatch.setattr(streamlit_compat, "_part", lambda module, name: None)
    monkeypatch.setattr(streamlit_compat, "STATIC", tmp_path)
    reaches = [*streamlit_compat._reaches(), *streamlit_parts.reaches(tmp_path)]
    sentences = streamlit_compat.check()
    assert len(sentences) == len(reaches) > 10
    for sentence, reach in zip(sentences, reaches, strict=True):
        assert sentence.endswith(f" has no {reach.part}: {reach.loss}.")


def test_screens_do_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without the parts a script's run is like any other, and nothing is replaced."""
    monkeypatch.setattr(streamlit_compat, "_part", lambda module, name: None)
    monkeypatch.setattr(streamlit_compat, "STATIC", tmp_path)
    assert (streamlit_compat.session_id(), streamlit_compat.page()) == ("", "")
    assert not (streamlit_compat.is_script() or streamlit_compat.is_back())
    assert streamlit_compat.drawing() is streamlit_compat.media() is None
    assert not streamlit_compat.is_stop(ValueError())
    assert not streamlit_compat.has_state(SimpleNamespace(), "username")
    assert not streamlit_compat.replace_company_client(lambda client: client)
    streamlit_compat.store_closed_sessions(object())
    streamlit_compat.replace_media(lambda files: files)


def test_the_desk_does_not_start_with_other_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages that can't be checked are an error with a sentence, as visitors could send anything."""
    monkeypatch.setattr(streamlit_compat, "_part", lambda module, name: None)
    with pytest.raises(Misconfigured, match="has other messages than Tranche knows"):
        streamlit_compat.protocol()
    with pytest.raises(Misconfigured, match="takes no options"):
        streamlit_compat.set_option("server.cookieSecret", "x")


def test_owners_outlive_files_that_cannot_be_listed() -> None:
    """Where Streamlit's files have no list, whose they are is remembered."""
    files = SimpleNamespace(add=lambda *given: "/media/f.csv", remove_orphaned_files=lambda: None)
    media = OwnedMedia(files, lambda: ("browser", "ada"))
    media.add(b"a", "text/csv", "a")
    media.remove_orphaned_files()
    assert media.belongs_to("f", ("browser", "ada"))


def test_a_document_without_the_tags_is_left_alone() -> None:
    """A document of another shape is served as it is."""
    assert streamlit_parts.insert(b"<p>x</p>", b"1", b"2", b"3") == b"<p>x</p>"
