#!/usr/bin/env bash
# openapi-python-client 0.29.1: two inlined objects with one title in a body drop the endpoint.
#
# Guess: `title` is a caption, so that a document with the same one twice makes a client with odd names at worst.
# Seen: it names the class; the second is refused ("Attempted to generate duplicate models"), and the whole
# endpoint is left out of the client, with a warning and exit code 0. With `$ref` to components both are there.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check openapi-python-client==0.29.1
cd "$folder" && venv/bin/python - <<'PY'
import json

target = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}
body = {"type": "object", "properties": {"seat": target | {"title": "ById"}, "dsp": target | {"title": "ById"}}}
referred = {"type": "object", "properties": {name: {"$ref": "#/components/schemas/ById"} for name in ("seat", "dsp")}}


def document(schema):
    operation = {
        "operationId": "create", "tags": ["deals"],
        "requestBody": {"content": {"application/json": {"schema": schema | {"title": "Body"}}}},
        "responses": {"204": {"description": "Done"}},
    }
    info = {"title": "Deals", "version": "1"}
    components = {"schemas": {"ById": target | {"title": "ById"}}}
    return {"openapi": "3.1.0", "info": info, "paths": {"/deals": {"post": operation}}, "components": components}


for name, schema in (("inlined", body), ("referred", referred)):
    with open(f"{name}.json", "w") as file:
        json.dump(document(schema), file)
PY
for name in inlined referred; do
  PATH="$folder/venv/bin:$PATH" venv/bin/openapi-python-client generate --path $name.json --output-path $name \
    --meta none > $name.log 2>&1 && echo "$name: exit code $?, endpoints: $(find $name/api -name 'create.py' | wc -l)"
done | tee outcome
[[ $(cat outcome) == "inlined: exit code 0, endpoints: 0"$'\n'"referred: exit code 0, endpoints: 1" ]]
grep -m 1 -i "duplicate" inlined.log
