"""Screens that draw themselves again, once something is done or in a second, and keep what is being typed."""

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
_WATCH = st.components.v2.component(
    "quiet_watch",
    js="""
const QUIET_MILLISECONDS = 1000; // by then the page has the address that the last click led to

function listen() {
  const input = { at: -Infinity };
  for (const kind of ["pointerdown", "pointerup", "keydown", "popstate"])
    window.addEventListener(kind, () => (input.at = performance.now()), true);
  return input;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const input = (window.trancheInput ??= listen());
  const node = parentElement.getRootNode().host ?? parentElement;
  // A slow run may be opening a dialog that is not on the page yet: one more run would close it.
  const isRunning = () => ["running", "rerunRequested"].includes(
    document.querySelector("[data-testid=stApp]")?.dataset.testScriptState);
  const isFree = () => node.closest("[role=dialog]")
    ? !document.activeElement?.matches("[role=dialog] :is(input, textarea)")
    : !document.querySelector("[role=dialog]");
  const timer = setInterval(() => {
    if (!node.isConnected) return clearInterval(timer);
    if (!data.isDue || isRunning() || !isFree() || performance.now() - input.at < QUIET_MILLISECONDS) return;
    clearInterval(timer);
    setTriggerValue("quiet", Date.now());
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
    draw: Callable[[], object] = lambda: None,
    every: float = POLL_SECONDS,
) -> None:
    """Run the page again once something is done; until then draw how far it is, every so many seconds.

    `key` tells this place from others on the page.
    """
    st.fragment(_look, run_every=every)(is_done, key, draw)


def _look(is_done: Callable[[], bool], key: str, draw: Callable[[], object]) -> None:
    if is_quiet(key, is_done()):
        st.rerun()
    draw()


def is_quiet(key: str, is_due: bool) -> bool:
    """Whether the page, due to run again by itself, may: nobody has clicked or typed for a second, and no
    dialog is open, or this is in it and nobody types there.

    A run closes dialogs with what is typed in them. The address that it begins with is the browser's, where a
    drawer opened or closed a moment ago is not yet known. Only the browser knows: the first call says no, and
    the browser runs the fragment again once it may. Call it in a fragment, and also before the page is due:
    the browser notes clicks and keys from then on.
    """
    with st.container(key=f"{key}_quiet_watch", height=1, border=False):
        data = {"isDue": is_due, "at": time.monotonic()}
        watch = _WATCH(data=data, key=key, height=0, on_quiet_change=lambda: None)
    return is_due and watch.quiet is not None
