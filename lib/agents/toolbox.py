"""Calls verbs in the name of one caller; every call is noted, with what came of it."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from lib.agents import deals, figures, inventory, proposals
from lib.agents.answers import LONGEST_TEXT, Json
from lib.agents.python_client import Desk
from lib.agents.verbs import Verb
from lib.wire.errors import InternalError, TrancheError, UnknownName

log = logging.getLogger(__name__)
VERBS: dict[str, Verb[Any]] = {
    verb.name: verb for part in (figures, deals, inventory, proposals) for verb in part.VERBS
}
Note = Callable[[str], None]


@dataclass(frozen=True)
class CallOutcome:
    """The answer to a call, or the sentence why there is none."""

    answer: Json
    is_error: bool = False

    @property
    def text(self) -> str:
        """The answer as JSON, for clients that read texts alone."""
        return orjson.dumps(self.answer).decode()


@dataclass(frozen=True)
class Toolbox:
    """The verbs of one caller. `note` writes a call to the audit log; `who` is told from others fairly."""

    who: str
    desk: Desk
    note: Note

    def call(self, name: str, arguments: Mapping[str, Any]) -> CallOutcome:
        """The outcome of a call. It raises nothing: what is wrong is a sentence for whoever called."""
        try:
            if name not in VERBS:
                raise UnknownName("verb", name[:LONGEST_TEXT], VERBS)
            outcome = CallOutcome(VERBS[name](self.desk, arguments))
        except TrancheError as error:
            outcome = CallOutcome({"error": error.reason}, is_error=True)
        except Exception:
            log.exception("%s failed", name[:LONGEST_TEXT])
            outcome = CallOutcome({"error": InternalError().reason}, is_error=True)
        result = f"refused: {outcome.answer['error']}" if outcome.is_error else "answered"
        self.note(f"{name[:LONGEST_TEXT]} {orjson.dumps(dict(arguments), default=str).decode()}: {result}")
        return outcome
