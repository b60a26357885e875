#!/usr/bin/env bash
# import-linter 2.17 (grimp 3.20): a function that a package re-exports counts as the submodule of that name.
#
# Guess: a contract that protects what is behind a package allows `from room import readers` where the
# package's __init__ offers a function `readers`, since Python gives the function.
# Seen: as soon as the package has a submodule readers.py, the contract is broken by "desk -> room.readers";
# under another name for the submodule it is kept. A door can't offer a name that a file behind it has.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check import-linter==2.17 grimp==3.20
cd "$folder" && mkdir -p house/room
touch house/__init__.py
printf 'from house.room import readers\nprint(readers())\n' > house/desk.py
cat > .importlinter <<'INI'
[importlinter]
root_package = house

[importlinter:contract:door]
name = The room is locked
type = protected
protected_modules = house.room.*
allowed_importers = house.room
INI
outcome() {
  rm -f house/room/*.py
  printf 'def readers() -> list[str]:\n    return ["a reader"]\n' > "house/room/$1.py"
  printf 'from house.room.%s import readers as readers\n' "$1" > house/room/__init__.py
  [[ $(venv/bin/python -m house.desk) == "['a reader']" ]]
  { venv/bin/lint-imports --no-cache 2>&1 || true; } | grep -oE 'The room is locked (KEPT|BROKEN)'
}
other=$(outcome choice) same=$(outcome readers)
echo "submodule choice.py: $other; submodule readers.py: $same"
[[ $other == *KEPT && $same == *BROKEN ]]
