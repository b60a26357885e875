"""The one way to offer a file: it is made on a click, and one that could not be made says why.

Streamlit makes the file on a thread without a session. Where that fails it shows six words for five seconds,
and runs no script. So what makes a file gets the page's context as it was drawn, for as long as the person is
signed in as they were then; and after a failure a component runs the script of the button again.
"""

from collections.abc import Callable
from typing import Literal

import streamlit as st

from lib.figures import error_text
from lib.figures.context import RequestContext
from lib.ui.kit import sign_in
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

Maker = Callable[[RequestContext], str | bytes]
UNKNOWN = "The server's log says why. Try again."
NOT_MADE = "The page was being drawn again, or the file took more than three minutes. Try again."
_WATCH = st.components.v2.component(
    "download_watch",
    js="""
export default function ({ parentElement, setTriggerValue }) {
  const offer = (parentElement.getRootNode().host ?? parentElement).closest('[class*="st-key-offer_"]')
  const watch = new MutationObserver(() => {
    const error = offer.querySelector("[data-testid=stDownloadButtonError]")
    if (!error || error.isReported) return
    error.isReported = true
    setTriggerValue("failed", Date.now())
  })
  watch.observe(offer, { childList: true, subtree: true })
  return () => watch.disconnect()
}
""",
)


@st.fragment
def offer(
    context: RequestContext,
    label: str,
    make: Maker,
    file_name: str,
    media_type: str,
    key: str,
    *,
    icon: str = "download",
    kind: Literal["primary", "secondary", "tertiary"] = "secondary",
    width: Literal["content", "stretch"] = "content",
    disabled: bool = False,
) -> None:
    """Draw the button that offers a file, and why it could not be made the last time it was pressed.

    `make` returns the file's content. It is called on a thread, which has no session: whatever it needs of
    the page is in the context that it gets, or bound to it before. It may raise any error.
    """
    own_context, check = context.without_session(), sign_in.session_check()
    failures: list[Exception] = st.session_state.setdefault(f"failures_of_{key}", [])

    def content() -> str | bytes:
        failures.clear()
        try:
            check()
            file = make(own_context)
            check()
        except Exception as error:
            failures.append(error)
            raise
        return file

    with st.container(key=f"offer_{key}", gap=None, width=width):
        st.download_button(
            label, data=content, file_name=file_name, mime=media_type, on_click="ignore", key=key,
            icon=f":material/{icon}:", type=kind, width=width, disabled=disabled,
        )  # fmt: skip
        with st.container(key=f"{key}_quiet_watch", height=1, border=False):
            watch = _WATCH(key=f"{key}_failed", height=0, on_failed_change=lambda: None)
        if failures or watch.failed is not None:
            error = failures[-1] if failures else None
            unknown = UNKNOWN if failures else NOT_MADE
            why = plain(error_text.sentence(error)) if isinstance(error, TrancheError) else unknown
            title = f"{plain(file_name)} could not be made"
            st.error(f"{why} Nothing was saved.", title=title, icon=":material/error:")
