"""Text for places that read Markdown."""

MARKS = r"\`*_{}[]()#+-.!|~$:<>"


def plain(text: str) -> str:
    """Text whose characters mean nothing to Markdown: what people and services wrote is shown as it is."""
    return "".join(f"\\{mark}" if mark in MARKS else mark for mark in text)
