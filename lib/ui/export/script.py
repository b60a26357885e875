"""The export request for scripts, as JSON and as a curl command.

The token is never a real one: in JSON it is the specification's `<TOKEN>`, for curl a variable of the shell.
"""

import re
import shlex

import orjson

from lib.reporting.client import PATH
from lib.reporting.models import ExportQuery

TOKEN, VARIABLE = "<TOKEN>", "TRANCHE_TOKEN"
_ALWAYS = ("slicer_name", "project_name")


def as_json(query: ExportQuery) -> str:
    """The body of the request, indented. Relative dates stay relative, for scripts that run daily."""
    return orjson.dumps(_body(query, TOKEN), option=orjson.OPT_INDENT_2).decode()


def as_curl(query: ExportQuery, address: str) -> str:
    """A command for a POSIX shell that downloads the file; `address` is the service's, without a path.

    It fails, and leaves no file, where the service answers an error.
    """
    body = shlex.quote(orjson.dumps(_body(query, TOKEN)).decode())
    with_token = _replaced_last(body, TOKEN, f"'\"${VARIABLE}\"'")
    return " \\\n  ".join(
        (
            f"curl --fail --silent --show-error --output {shlex.quote(_filename(query))}",
            "--header 'Content-Type: application/json'",
            f"--data {with_token}",
            shlex.quote(f"{address.rstrip('/')}{PATH}/export"),
        )
    )


def _body(query: ExportQuery, token: str) -> dict[str, object]:
    """The body without default values, with the token last."""
    fields = query.model_dump(mode="json", exclude_defaults=True)
    first = {name: fields.pop(name) for name in _ALWAYS}
    return {**first, **fields, "token": token}


def _replaced_last(text: str, old: str, new: str) -> str:
    """A value of a filter may be `<TOKEN>` too, and stays."""
    head, _, tail = text.rpartition(old)
    return f"{head}{new}{tail}"


def _filename(query: ExportQuery) -> str:
    name = re.sub(r"[^\w.-]", "_", query.slicer_name)
    return f"{name}.{query.export_format}"
