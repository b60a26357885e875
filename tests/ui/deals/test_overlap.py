"""The overlap of packages on the screen: the matrix, and the seats with two prices."""

import datetime as dt

from conftest import LAST_DAY
from dealing import SOLD, Visit, clean, sold_rows
from streamlit.testing.v1 import AppTest


def come(desk: AppTest) -> AppTest:
    """The screen once the overlap is computed."""
    for _, insight in list(desk.session_state["insights"].values()):
        assert insight.wait(60)
    return clean(desk.run())


def test_the_matrix_and_two_prices(visit: Visit) -> None:
    """Morning News (US and DE, no smartphone) and Evening Sports (a domain) share what satisfies both, which
    Alpha Buying is offered at 2.50 and at 7."""
    desk = visit("deals", slicer=SOLD, deals_kind="Packages", deals_order="id")
    desk = come(clean(desk.button(key="deals_overlap").click().run()))
    rows = sold_rows().to_pandas()
    rows = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=30)]
    news = rows["geo.country"].isin(["US", "DE"]) & (rows["device_type"] != "smartphone")
    sports = rows["site_domain"] == "news.example"
    shared, first, second = (rows["bids"][mask].sum() for mask in (news & sports, news, sports))
    matrix, seats = (dataframe.value for dataframe in desk.dataframe[-2:])
    assert list(matrix.index) == ["1 · Morning News", "2 · Evening Sports"]
    assert list(matrix["1"]) == ["–", f"{100 * shared / second:.1f} %"]
    assert list(matrix["2"]) == [f"{100 * shared / first:.1f} %", "–"]
    assert seats.iloc[0].tolist()[:3] == [
        "Alpha Buying", "1 · Morning News and 2 · Evening Sports", "2.50 and 7.00",
    ]  # fmt: skip
    assert len(seats) == 1
    assert any("Exact" in caption.value and "are ignored" in caption.value for caption in desk.caption)
