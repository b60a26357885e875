"""What sends a question to others, in Link: its figures as a file."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from lib import connect
from lib.settings import Settings
from lib.ui.audience.snapshots import Snapshots
from lib.ui.kit.frame import PageContext
from lib.wire.errors import AccessError

KINDS = {"html": "text/html", "pdf": "application/pdf", "png": "image/png"}


def draw(context: PageContext, params: Mapping[str, str], title: str) -> None:
    """Draw the downloads of a question by the parameters of its link; `title` is the name of a saved view."""
    st.caption("These figures as a file")
    with st.container(horizontal=True):
        for kind, media_type in KINDS.items():
            st.download_button(
                kind.upper(),
                data=partial(_file, context, dict(params), title, kind, context.locale or ""),
                file_name=f"{context.slicer_name}.{kind}",
                mime=media_type,
                on_click="ignore",
                icon=":material/download:",
                key=f"snapshot_{kind}{'_view' if title else ''}",
            )


def _file(context: PageContext, params: dict[str, str], title: str, kind: str, language: str) -> bytes:
    """The file, in the name of the person as they are when they click."""
    from lib.snapshot import render  # matplotlib takes a second and 45 MB, which most desks never need

    settings = Settings.current()
    person = connect.installation(settings).people.get(context.person.username)
    if person is None or person.added != context.person.added:
        raise AccessError
    about = (context.project, context.slicer_name)
    return render.file(Snapshots(settings).take(person, about, params, title, language), kind)
