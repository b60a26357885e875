"""The navigation menu on a phone, which closes once a screen is chosen."""

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
    """Close the menu after a choice where it covers the page."""
    _CLOSING(key="closing_menu", height=0)
