"""Scripts of the page: a question before unsaved work is left, and a button that keys press."""

import streamlit as st

_CLOSING = st.components.v2.component(
    "closing_menu",
    js="""
export default function () {
  const close = (event) => {
    if (!event.target.closest("[data-testid=stSidebarNavLink]") || window.innerWidth > 768) return;
    setTimeout(() => document.querySelector("[data-testid=stSidebarCollapseButton] button")?.click(), 0);
  };
  document.addEventListener("click", close);
  return () => document.removeEventListener("click", close);
}
""",
)
_GUARD = st.components.v2.component(
    "unsaved_work",
    js="""
export default function ({ data }) {
  const ask = (event) => {
    event.preventDefault();
    event.returnValue = true;
  };
  window.onbeforeunload = data && data.unsaved ? ask : null;
  return () => {
    window.onbeforeunload = null;
  };
}
""",
)
_KEYS = st.components.v2.component(
    "pressed_by_keys",
    js="""
export default function ({ data }) {
  const press = (event) => {
    const button = document.querySelector(`[class*="st-key-${CSS.escape(data.key)}"] button`);
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || !button) return;
    event.preventDefault();
    event.stopPropagation();
    const field = document.activeElement;
    field.blur(); // what is typed is sent before the click, as a mouse would have it
    button.click();
    field.focus();
  };
  document.addEventListener("keydown", press, true);
  return () => document.removeEventListener("keydown", press, true);
}
""",
)


def close_after_choice() -> None:
    """Close the menu after a choice where it covers the page."""
    _CLOSING(key="closing_menu", height=0)


def ask_before(is_unsaved: bool) -> None:
    """Turn the confirmation on or off for this page."""
    with st.container(key="unsaved_work", height=1, border=False):
        _GUARD(data={"unsaved": is_unsaved}, key="unsaved_work_guard", height=0)


def press_by_keys(key: str) -> None:
    """Let Ctrl+Enter, or Command and Enter, press the button of this key."""
    with st.container(key="press_by_keys", height=1, border=False):
        _KEYS(data={"key": key}, key="pressed_by_keys", height=0)
