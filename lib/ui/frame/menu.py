"""The navigation menu on a phone: it closes once a screen is chosen from it."""

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


def close_when_chosen() -> None:
    """Let the menu close by itself where it lies over the page."""
    _CLOSING(key="closing_menu", height=0)
