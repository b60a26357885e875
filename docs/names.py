"""Writes docs/names.md: each module of lib with its first sentence and its public names.

python docs/names.py
"""

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "docs" / "names.md"
HEAD = """# Names

Every module of `lib/`, what it is for, and its public names. Made by `python docs/names.py`.
"""


def main() -> None:
    """Write the page."""
    TARGET.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page as it should be now."""
    folders: dict[Path, list[str]] = {}
    for path in sorted((ROOT / "lib").rglob("*.py")):
        folders.setdefault(path.parent.relative_to(ROOT), []).append(line(path))
    parts = [f"\n## {folder}\n\n" + "".join(lines) for folder, lines in folders.items() if any(lines)]
    return HEAD + "".join(parts)


def line(path: Path) -> str:
    """A module's line of the page; none for an empty module."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    first = " ".join((ast.get_docstring(tree) or "").split("\n\n")[0].split())
    names = [f"`{name}`" for name in public_names(tree)]
    about = f"{first} {', '.join(names)}".strip()
    return f"- **{path.stem}**: {about}\n" if about else ""


def public_names(tree: ast.Module) -> list[str]:
    """The functions and classes that a module defines for others."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")]


if __name__ == "__main__":
    main()
