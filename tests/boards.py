"""Reads the components of rows and the overview in an AppTest, and sends clicks to them."""

import json
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from lib.figures.overview.overview_answers import OverviewAnswers
from lib.serving.front.overview_route import OverviewRequest
from lib.settings import Settings
from lib.ui.kit.frame import CONTEXT
from lib.wire.deadline import Deadline


def drawn(desk: AppTest) -> list[dict[str, Any]]:
    """The tables that the script was given to draw."""
    tables = []
    for data in components(desk):
        tables += data.get("tables", ())
        if "asked" in data:
            tables += parts(desk, data["asked"]["params"], [data["asked"]["part"]])[data["asked"]["part"]]
    return [*tables, *answer(desk).get("cards", ())]


def components(desk: AppTest) -> list[dict[str, Any]]:
    """The data of every component of ours that is given some."""
    return [
        json.loads(component.proto.json) for component in desk.get("bidi_component") if component.proto.json
    ]


def asked(desk: AppTest) -> dict[str, Any] | None:
    """What the overview on the page is given: the question that it shows; None without one."""
    return next((data for data in components(desk) if "params" in data), None)


def answer(desk: AppTest) -> dict[str, Any]:
    """The head and the cards that the overview on the page draws, in the end; empty without one."""
    data = asked(desk)
    if data is None:
        return {}
    return parts(desk, data["params"], ["head", "cards"])


def parts(desk: AppTest, params: dict[str, str], names: list[str], *acts: list[Any]) -> dict[str, Any]:
    """What the overview's route returns of these parts (or their error) after these clicks, in the end."""
    context = desk.session_state[CONTEXT]
    about = {"project": context.project, "slicer": context.slicer_name, "params": params}
    request = OverviewRequest(**about, acts=list(acts), parts=names)
    lines_by_part: dict[str, Any] = {}
    for line in OverviewAnswers(Settings.current()).lines(request, context.person, Deadline(60)):
        lines_by_part |= {name: line[name] for name in (*names, "error") if name in line}
    copy: dict[str, Any] = json.loads(json.dumps(lines_by_part))
    return copy


def head(desk: AppTest) -> dict[str, Any]:
    """The head of the overview's answer: headline, chart and what is said about them."""
    head_part: dict[str, Any] = answer(desk)["head"]
    return head_part


def headline(desk: AppTest) -> dict[str, str]:
    """The figures of the overview's headline by title; empty without one."""
    figures = answer(desk).get("head", {}).get("figures", ())
    return {figure["title"]: figure["text"] for figure in figures}


def shown(desk: AppTest) -> pd.DataFrame:
    """The texts of the table that is no card, a column per title, the total and the rest among the rows."""
    return texts(split(desk))


def split(desk: AppTest) -> dict[str, Any]:
    """The table that is no card."""
    return next(table for table in drawn(desk) if not table["card"])


def card(desk: AppTest, name: str) -> pd.DataFrame:
    """The texts of a key field's leaderboard, in the same way."""
    return texts(next(table for table in drawn(desk) if table["card"] and table["id"] == name))


def texts(table: dict[str, Any]) -> pd.DataFrame:
    """The texts of a table's cells under the titles of its columns."""
    titles = [column["title"] for column in table["columns"]]
    return pd.DataFrame([[cell["text"] for cell in row["cells"]] for row in table["rows"]], columns=titles)


def numbers(texts: pd.Series) -> list[float]:
    """English figures as numbers; NaN for a dash."""
    return pd.to_numeric(texts.str.replace(",", "").str.replace("−", "-"), errors="coerce").tolist()


def click(desk: AppTest, key: str, *acts: list[Any]) -> AppTest:
    """Send acts, numbered on from the last ones, as the component of this key does, and run the script."""
    before = [[0]]
    if key in desk.session_state and "acts" in desk.session_state[key]:
        before = desk.session_state[key]["acts"]["list"]
    last = before[-1][0]
    numbered_table = [[number, *act] for number, act in enumerate(acts, last + 1)]
    desk.session_state[key] = {"acts": {"by": "a browser", "list": numbered_table}}
    return desk.run()
