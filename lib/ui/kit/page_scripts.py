"""Scripts of the page: a question before unsaved work is left, a button that keys press, readers' choices."""

from collections.abc import Callable, Mapping

import streamlit as st

from lib.ui.kit import screens

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
  const find = () => document.querySelector(`[class*="st-key-${CSS.escape(data.key)}"] button`);
  const within = data.field && `[class*="st-key-${CSS.escape(data.field)}"]`;
  const click = (tries) => {
    const button = find();
    if (button) button.click();
    else if (tries) setTimeout(click, 100, tries - 1);
  };
  const press = (event) => {
    if (event.key === "Escape" && within && event.target.closest(within)) return event.target.blur();
    if (event.key !== "Enter" || event.isComposing) return;
    const isMeant = within ? event.target.closest(within) : (event.ctrlKey || event.metaKey) && find();
    if (!isMeant) return;
    event.preventDefault();
    event.stopPropagation();
    const field = document.activeElement;
    field.blur(); // what is typed is sent before the click, as a mouse would have it
    click(within ? 20 : 0); // a button that depends on the text comes with the run that reads it
    field.focus();
  };
  const type = (event) => {
    const [from] = event.composedPath();
    const isTyped = from.isContentEditable || from.matches?.("input, textarea, [role=spinbutton]");
    const field = document.querySelector(`${within} input`);
    const isMeant = event.key === data.focus && !event.defaultPrevented && !event.ctrlKey && !event.metaKey;
    if (!field || !isMeant || isTyped) return;
    event.preventDefault();
    field.focus();
    field.select();
  };
  document.addEventListener("keydown", press, true);
  document.addEventListener("keydown", type);
  return () => {
    document.removeEventListener("keydown", press, true);
    document.removeEventListener("keydown", type);
  };
}
""",
)
# Streamlit reads the theme of a page under the page's path, in the format of its own menu (version 2).
_THEME = st.components.v2.component(
    "chosen_theme",
    js="""
export default function ({ data }) {
  const before = location.pathname.replace(/[^/]*$/, "");
  for (const path of [...new Set([location.pathname, ...data.screens.map((screen) => before + screen)])]) {
    const name = `stActiveTheme-${path}-v2`;
    if (data.theme) localStorage.setItem(name, JSON.stringify(data.theme));
    else localStorage.removeItem(name);
  }
  location.reload();
}
""",
)

# Cookies, which the server reads with the next page (lib/ui/kit/reader.py).
_READER = st.components.v2.component(
    "chosen_by_reader",
    js="""
export default function ({ data }) {
  for (const [name, value] of Object.entries(data)) {
    const age = value ? 31536000 : 0;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    document.cookie = `${name}=${encodeURIComponent(value)}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`;
  }
  location.reload();
}
""",
)


def close_after_choice() -> None:
    """Close the menu after a choice where it covers the page."""
    _CLOSING(key="closing_menu", height=0)


def ask_before(is_unsaved: bool) -> None:
    """Turn the confirmation on or off for this page."""
    _run(_GUARD, "unsaved_work", {"unsaved": is_unsaved})


def press_by_keys(key: str, field: str = "", focus: str = "") -> None:
    """Let Ctrl+Enter, or Command and Enter, press the button of this key.

    In a `field` of that key, Enter alone does, and Escape leaves it. The run that reads its text may not have
    drawn the button yet: it is waited for, two seconds. The key `focus` puts the focus there from wherever it
    types nothing.
    """
    _run(_KEYS, "press_by_keys", {"key": key, "field": field, "focus": focus})


def set_theme(theme: str) -> None:
    """Load the desk anew in this theme, `Light` or `Dark`, on all screens; without one, in the system's."""
    _run(_THEME, "chosen_theme", {"theme": theme, "screens": screens.NAMES})


def set_cookies(values: Mapping[str, str]) -> None:
    """Load the desk anew with what the reader chose, by cookie; an empty value forgets the choice."""
    _run(_READER, "chosen_by_reader", dict(values))


def _run(script: Callable[..., object], key: str, data: Mapping[str, object]) -> None:
    """Run a script in the page, in a place of its own that nobody sees."""
    with st.container(key=key, height=1, border=False):
        script(data=data, key=f"{key}_script", height=0)
