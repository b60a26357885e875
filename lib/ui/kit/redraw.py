"""Drawing again by itself, once something is done or in a second; never over what a person is typing."""

import time
from collections.abc import Callable

import streamlit as st

POLL_SECONDS = 1.0
_TIMER = st.components.v2.component(
    "draw_again",
    js="""
export default function ({ setTriggerValue }) {
  const timer = setTimeout(() => setTriggerValue("due", Date.now()), 1000);
  return () => clearTimeout(timer);
}
""",
)
_DIALOG_WATCH = st.components.v2.component(
    "dialog_watch",
    js="""
export default function ({ parentElement, setTriggerValue }) {
  const node = parentElement.getRootNode().host ?? parentElement;
  const isFree = () => node.closest("[role=dialog]")
    ? !document.activeElement?.matches("[role=dialog] :is(input, textarea)")
    : !document.querySelector("[role=dialog]");
  const timer = setInterval(() => {
    if (!isFree()) return;
    clearInterval(timer);
    setTriggerValue("free", Date.now());
  }, 50);
  return () => clearInterval(timer);
}
""",
)


def draw_again(key: str) -> None:
    """Run the drawer in which this is drawn again in a second.

    What is being typed there stays, which `st.rerun` loses: it closes dialogs, and the next run opens them.
    """
    with st.container(key=f"{key}_timer", height=1, border=False):
        _TIMER(data={"at": time.monotonic()}, key=key, height=0, on_due_change=lambda: None)


def when(
    is_done: Callable[[], bool],
    key: str,
    draw: Callable[[], None] = lambda: None,
    every: float = POLL_SECONDS,
) -> None:
    """Run the page again once something is done; until then draw how far it is, every so many seconds.

    `key` is this place's own in the page.
    """
    st.fragment(_look, run_every=every)(is_done, key, draw)


def _look(is_done: Callable[[], bool], key: str, draw: Callable[[], None]) -> None:
    if is_done() and is_free(key):
        st.rerun()
    draw()


def is_free(key: str) -> bool:
    """Whether the page may run again by itself: no dialog is open, or this is in it and nobody types there.

    Known to the browser alone: the first call says no, and the browser runs the fragment again once it may.
    """
    with st.container(key=f"{key}_watch", height=1, border=False):
        watch = _DIALOG_WATCH(data={"at": time.monotonic()}, key=key, height=0, on_free_change=lambda: None)
    return watch.free is not None
