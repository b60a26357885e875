"""The tables of the first release, where migrations begin: what is older is refused (`database.upgrade`).

One file, since a migration is one.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from lib.database.columns import Key, keys, optional, required

revision = "0046"
down_revision = None

INSTANT, TEXT, FLAG, DAY = sa.DateTime(timezone=True), sa.Text(), sa.Boolean(), sa.Date()
WHOLE, LARGE = sa.Integer(), sa.BigInteger()
DOUBLE: Any = sa.Double()
CODE, USER, NAME, DIGEST = sa.String(20), sa.String(64), sa.String(100), sa.String(64)
VALUE, EMAIL, HOST, SERVICE = sa.String(200), sa.String(254), sa.String(253), sa.String(500)
SLICER: dict[str, Any] = {"service": SERVICE, "project": VALUE, "slicer": VALUE}
SHARED: dict[str, Any] = {"owner": USER, "is_shared": FLAG, "created": INSTANT, "changed": INSTANT}
ENTITY: dict[str, Any] = {"name": sa.String(500), "folded": TEXT}
STAMPS: dict[str, Any] = {"version": WHOLE, "created_at": INSTANT, "updated_at": INSTANT}
MAKER: dict[str, Any] = {"made_by": USER, "made_with": WHOLE}


def upgrade() -> None:
    """Make the tables, each after those that it refers to."""
    _people_and_tokens()
    _deals()
    _work_on_deals()
    _views()
    op.create_table(
        "slicer_renames",
        *keys(project=VALUE, slicer=VALUE),
        *required(to_project=VALUE, to_slicer=VALUE, who=NAME),
    )
    op.create_table("known_slicers", *keys(project=VALUE, slicer=VALUE))


def _people_and_tokens() -> None:
    op.create_table("people", *keys(username=USER), *required(record=TEXT))
    op.create_table("sign_ins", *keys(username=USER, ends=DOUBLE), *required(proof=DIGEST))
    _index("sign_ins", "ends")
    _id_table("attempts", *required(kind=sa.String(7), name=USER, origin=sa.String(64), at=DOUBLE))
    _index("attempts", "at")
    _index("attempts", "kind", "name", "origin")
    op.create_table("secrets", *keys(name=sa.String(64)), *required(value=sa.String(64)))
    _id_table("admissions", *required(caller=NAME, process=sa.String(32), at=DOUBLE, count=WHOLE))
    _index("admissions", "at")
    _index("admissions", "caller")
    op.create_table("id_tokens", *keys(digest=DIGEST), *required(ends=DOUBLE))
    _index("id_tokens", "ends")
    _id_table(
        "audit", *required(at=INSTANT, who=NAME, event=CODE, about=NAME, detail=TEXT), *optional(address=USER)
    )
    _index("audit", "about", "id")
    _index("audit", "event", "id")
    op.create_table(
        "tokens",
        sa.Column("id", WHOLE, primary_key=True),
        *required(prefix=sa.String(40), digest=DIGEST, owner=USER, name=VALUE, service=NAME),
        *required(kind=sa.String(9), grants=sa.JSON(), created=INSTANT),
        *optional(expires=INSTANT, last_used=INSTANT, revoked=INSTANT, deals=TEXT),
        sa.UniqueConstraint("digest"),
        sa.CheckConstraint("kind in ('permanent', 'temporary')", name="ck_tokens_kind"),
        sqlite_autoincrement=True,
    )
    _index("tokens", "kind", "expires")
    _index("tokens", "owner")


def _deals() -> None:
    _id_table("dsps", *required(**ENTITY, supports_deal_sync=FLAG, **STAMPS), sa.UniqueConstraint("name"))
    _id_table(
        "seats",
        *required(**ENTITY),
        *optional(external_id=VALUE),
        *required(dsp_id=Key, **STAMPS),
        _reference("dsp_id", "dsps", "RESTRICT"),
        sa.UniqueConstraint("dsp_id", "external_id"),
        sa.UniqueConstraint("dsp_id", "name"),
    )
    _id_table("domain_lists", *required(**ENTITY, domains=TEXT, **STAMPS), sa.UniqueConstraint("name"))
    _id_table("app_lists", *required(**ENTITY, apps=TEXT, **STAMPS), sa.UniqueConstraint("name"))
    _id_table(
        "supply_packages",
        *required(**ENTITY, is_active=FLAG, is_dynamic_bidding=FLAG, is_true_price_opt_enable=FLAG),
        *required(media_type=CODE, start_date=INSTANT, start_date_offset=WHOLE),
        *optional(end_date=INSTANT, end_date_offset=WHOLE),
        *required(browser_targetings=TEXT, device_targetings=TEXT, geo_targetings=TEXT),
        *required(operating_system_targetings=TEXT, size_targetings=TEXT, **STAMPS),
        *optional(**MAKER),
        sa.Column("targets", TEXT, nullable=False, server_default=""),
        sa.CheckConstraint("end_date > start_date", name="ck_supply_packages_dates"),
    )
    _index("supply_packages", "made_by")
    _index("supply_packages", "start_date")
    _id_table("packages", *required(**ENTITY, **STAMPS), *optional(**MAKER))
    _index("packages", "made_by")
    op.create_table("deal_ids", *keys(deal_id=sa.String(40)), *required(given=INSTANT))
    _id_table(
        "demand_deals",
        *required(**ENTITY, deal_id=sa.String(40), seat_id=Key),
        *optional(package_id=Key, price=LARGE),
        *required(deal_sync=FLAG, is_active=FLAG),
        *optional(agency_curation_fee=LARGE, agency_curation_fee_type=WHOLE, contact_email=EMAIL),
        *required(**STAMPS),
        *optional(price_type=CODE, units=LARGE, budget=LARGE, frequency_cap=LARGE, viewability_goal=LARGE),
        *optional(deal_type=CODE, pacing=CODE, audience_segments=VALUE, buyer_note=VALUE, priority=LARGE),
        *optional(house_code=VALUE, currency=CODE, block_override=FLAG),
        sa.ForeignKeyConstraint(["deal_id"], ["deal_ids.deal_id"]),
        _reference("package_id", "packages", "RESTRICT"),
        _reference("seat_id", "seats", "RESTRICT"),
        sa.UniqueConstraint("deal_id"),
    )
    _index("demand_deals", "package_id")
    _index("demand_deals", "seat_id")
    op.create_table(
        "supply_package_deals",
        *keys(supply_package_id=Key, demand_deal_id=Key),
        _reference("demand_deal_id", "demand_deals", "CASCADE"),
        _reference("supply_package_id", "supply_packages", "RESTRICT"),
    )
    _index("supply_package_deals", "demand_deal_id", "supply_package_id")
    for table, lists in (("supply_domain_lists", "domain_lists"), ("supply_app_lists", "app_lists")):
        op.create_table(
            table,
            *keys(supply_package_id=Key, list_id=Key),
            *required(is_excluded=FLAG),
            _reference("list_id", lists, "RESTRICT"),
            _reference("supply_package_id", "supply_packages", "CASCADE"),
        )
        _index(table, "list_id", "supply_package_id")
    op.create_table(
        "package_seats",
        *keys(package_id=Key, seat_id=Key),
        *required(value=FLAG),
        _reference("package_id", "packages", "CASCADE"),
        _reference("seat_id", "seats", "RESTRICT"),
    )
    _index("package_seats", "seat_id", "package_id")
    op.create_table(
        "package_supply_packages",
        *keys(package_id=Key, supply_package_id=Key),
        _reference("package_id", "packages", "CASCADE"),
        _reference("supply_package_id", "supply_packages", "RESTRICT"),
    )
    _index("package_supply_packages", "supply_package_id", "package_id")
    _id_table(
        "changes",
        *required(entity=CODE, entity_id=Key, version=WHOLE, at=INSTANT, who=USER, action=sa.String(10)),
        *optional(before=TEXT, after=TEXT, token=VALUE),
    )
    _index("changes", "entity", "entity_id", "id")
    op.create_table(
        "idempotency_keys",
        *keys(owner=USER, key=sa.String(255)),
        *required(entity=CODE, body=TEXT, answer=TEXT, etag=sa.String(60), at=INSTANT),
    )
    _index("idempotency_keys", "at")


def _work_on_deals() -> None:
    _id_table(
        "remembered",
        *required(service=SERVICE, entity=CODE, entity_id=Key, at=INSTANT, who=USER, action=sa.String(10)),
        *required(body=TEXT),
    )
    _index("remembered", "service", "entity", "entity_id", "id")
    op.create_table("drafts", *keys(username=USER, service=SERVICE), *required(at=INSTANT, body=TEXT))
    op.create_table(
        "change_drafts",
        *keys(username=USER, service=SERVICE, entity=sa.String(40), entity_id=LARGE),
        *required(at=INSTANT, body=TEXT),
    )
    op.create_table(
        "package_questions",
        *keys(service=SERVICE, package_id=LARGE),
        *required(reporting=SERVICE, project=VALUE, slicer=VALUE, params=TEXT, owner=USER, at=INSTANT),
    )
    op.create_table(
        "package_notes",
        *keys(service=SERVICE, package_id=LARGE),
        *required(owner=NAME, note=TEXT, who=USER, at=INSTANT),
    )
    _id_table("deal_entries", *required(service=SERVICE, kind=CODE, name=NAME, body=TEXT, **SHARED))
    _index("deal_entries", "service", "kind")
    op.create_table(
        "synced_deals",
        *keys(deal_id=sa.String(40), seat_id=Key),
        *required(demand_deal_id=Key, buyer_seat=VALUE, document=TEXT),
        *optional(fetched_at=INSTANT, fetched_by=USER, status=WHOLE, status_at=INSTANT, status_by=USER),
        sa.Column("is_archived", FLAG, nullable=False, server_default=sa.false()),
        *optional(changed_from=INSTANT, sent_at=INSTANT, due=INSTANT),
        sa.Column("attempts", WHOLE, nullable=False, server_default="0"),
        *optional(problem=VALUE, asked_at=INSTANT, status_reason=sa.String(500)),
    )
    _id_table(
        "bulk_actions",
        *required(service=SERVICE, title=NAME, who=USER, at=INSTANT),
        *optional(undone_by=USER, undone_at=INSTANT),
    )
    _index("bulk_actions", "service", "at")
    op.create_table(
        "bulk_action_rows",
        *keys(action_id=Key, entity=sa.String(40), entity_id=LARGE),
        *required(name=TEXT, before=TEXT, after=TEXT, is_undone=FLAG),
        _reference("action_id", "bulk_actions", "CASCADE"),
    )
    _id_table(
        "health_reports",
        *required(project=VALUE, slicer=VALUE, basis=sa.String(64), last_day=sa.String(10)),
        *optional(checked_at=INSTANT),
        *required(problem=TEXT),
        sa.UniqueConstraint("project", "slicer"),
    )
    figures = ("impressions", "spend", "win_rate", "pacing")
    op.create_table(
        "deal_health",
        *keys(report_id=Key, deal_id=Key),
        *required(state=CODE, facts=TEXT, computed_at=INSTANT, basis=sa.String(64)),
        *optional(until=INSTANT),
        *optional(**{f"units_{figure}": sa.Float(53) for figure in ("to_date", "expected", "projected")}),
        *required(deal_version=WHOLE, packages_version=WHOLE, seat_version=WHOLE, dsp_version=WHOLE),
        *optional(**{f"{figure}_{days}_days": sa.Float(53) for days in (7, 30) for figure in figures}),
        _reference("deal_id", "demand_deals", "CASCADE"),
        _reference("report_id", "health_reports", "CASCADE"),
    )
    _index("deal_health", "deal_id")
    _index("deal_health", "report_id", "state")
    _id_table(
        "proposals",
        *required(service=SERVICE, entity=CODE),
        *optional(entity_id=LARGE),
        *required(name=TEXT, fields=TEXT, before=TEXT, reason=TEXT),
        *optional(question=TEXT, expected=TEXT),
        *required(by=USER),
        *optional(made_with=WHOLE),
        *required(at=INSTANT, state=CODE),
        *optional(token=VALUE, decided_token=VALUE, decided_by=USER, decided_at=INSTANT),
        *required(word=TEXT),
        *optional(applied_id=LARGE),
        *required(is_edited=FLAG),
    )
    _index("proposals", "service", "state")
    op.create_table(
        "negotiation_rounds",
        *keys(service=SERVICE, deal_id=LARGE, seat_id=LARGE, number=LARGE),
        *required(side=sa.String(10), act=sa.String(10)),
        *optional(price=LARGE, units=LARGE, first_day=DAY, last_day=DAY),
        *required(word=TEXT, who=TEXT),
        *optional(link_id=LARGE),
        *required(at=INSTANT),
        *optional(currency=CODE, details=TEXT),
    )
    op.create_table(
        "buyer_counts",
        *keys(service=SERVICE, deal_id=LARGE, seat_id=LARGE, day=DAY),
        *optional(requests=LARGE, bids=LARGE, wins=LARGE, spend=LARGE),
        *required(link_id=LARGE, at=INSTANT),
    )
    _id_table(
        "supply_files",
        *required(kind=CODE, domain=HOST, records=WHOLE, variables=TEXT, problems=TEXT, problem_count=WHOLE),
        *required(who=NAME, at=INSTANT),
        sa.UniqueConstraint("kind", "domain"),
    )
    op.create_table(
        "supply_accounts",
        *required(file_id=Key, system=HOST, account=VALUE, relation=CODE, domain=HOST),
        _reference("file_id", "supply_files", "CASCADE"),
    )
    _index("supply_accounts", "file_id")
    _index("supply_accounts", "system", "account")
    op.create_table(
        "supply_apps",
        *keys(app=VALUE),
        *required(file_id=Key, domain=HOST),
        _reference("file_id", "supply_files", "CASCADE"),
    )
    _index("supply_apps", "file_id")


def _views() -> None:
    _id_table("saved_views", *required(**SLICER, name=NAME, params=TEXT, **SHARED))
    _index("saved_views", "service", "project", "slicer")
    op.create_table(
        "start_views",
        *keys(username=USER, service=SERVICE),
        *required(view_id=Key, at=INSTANT),
        _reference("view_id", "saved_views", "CASCADE"),
    )
    _id_table(
        "notes",
        *required(**SLICER, day=DAY, text=TEXT, owner=USER, created=INSTANT),
        *optional(view_id=Key),
        _reference("view_id", "saved_views", "CASCADE"),
    )
    _index("notes", "service", "project", "slicer", "day")
    _index("notes", "view_id")
    _id_table("boards", *required(service=SERVICE, name=NAME, cells=TEXT, params=TEXT, **SHARED))
    _index("boards", "service")
    op.create_table(
        "start_boards",
        *keys(username=USER, service=SERVICE),
        *required(board_id=Key, at=INSTANT),
        _reference("board_id", "boards", "CASCADE"),
    )
    op.create_table("chosen_cards", *keys(username=USER, **SLICER), *required(cards=TEXT, at=INSTANT))
    _id_table(
        "alerts",
        *required(view_id=Key, owner=USER, created=INSTANT, field=sa.String(500), figure=TEXT, rule=CODE),
        *optional(bound=DOUBLE),
        *required(state=CODE),
        *optional(since=INSTANT, value=DOUBLE, low=DOUBLE, high=DOUBLE),
        *required(problem=TEXT),
        *optional(checked=INSTANT, rows_key=DIGEST),
        _reference("view_id", "saved_views", "CASCADE"),
        sa.UniqueConstraint("view_id", "owner"),
    )
    _index("alerts", "owner")
    _id_table(
        "alert_messages",
        *required(alert_id=Key, event=TEXT, attempts=WHOLE, due=INSTANT),
        _reference("alert_id", "alerts", "CASCADE"),
    )
    _index("alert_messages", "alert_id")
    _id_table("own_metrics", *required(**SLICER, name=NAME, formula=TEXT, unit=CODE, digits=WHOLE, **SHARED))
    _index("own_metrics", "service", "project", "slicer")
    _id_table(
        "mail_subscriptions",
        *optional(view_id=Key),
        *required(service=SERVICE, owner=USER, created=INSTANT, recipient=EMAIL, pace=sa.String(10)),
        *required(zone=sa.String(64), minute=WHOLE, weekday=WHOLE, only_new=FLAG, with_snapshot=FLAG),
        *required(due=INSTANT, mark=TEXT, failures=WHOLE, problem=TEXT),
        *optional(sent=INSTANT, board_id=Key),
        sa.Column("request", TEXT, nullable=False, server_default="{}"),
        _reference("board_id", "boards", "CASCADE"),
        _reference("view_id", "saved_views", "CASCADE"),
    )
    _index("mail_subscriptions", "board_id")
    _index("mail_subscriptions", "owner")
    _index("mail_subscriptions", "view_id")
    _id_table(
        "mail_messages",
        *required(owner=USER, recipient=EMAIL, project=VALUE, slicer=VALUE, body=TEXT, created=INSTANT),
        *required(attempts=WHOLE, due=INSTANT),
        *optional(deal=LARGE, seat=LARGE),
    )
    _id_table(
        "share_links",
        *required(**SLICER, name=NAME, params=TEXT, origins=TEXT, secret_hash=DIGEST),
        *required(owner=USER, created=INSTANT, expires=INSTANT),
        *optional(
            opened=INSTANT, deal=LARGE, deals_service=SERVICE, recipient=EMAIL, seat=LARGE, grants=TEXT
        ),
        sa.Column("wrong_codes", WHOLE, nullable=False, server_default="0"),
    )
    _index("share_links", "service", "owner")
    _id_table(
        "link_codes",
        *required(link_id=Key, code_hash=DIGEST, made=INSTANT),
        _reference("link_id", "share_links", "CASCADE"),
    )
    _index("link_codes", "link_id")
    op.create_table("link_visits", *keys(key_hash=DIGEST), *required(link_id=LARGE, expires=INSTANT))


def _id_table(table: str, *parts: Any) -> None:
    """Make a table whose rows have an id, which is never given twice."""
    op.create_table(table, sa.Column("id", Key, primary_key=True), *parts, sqlite_autoincrement=True)


def _reference(column: str, table: str, ondelete: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], ondelete=ondelete)


def _index(table: str, *columns: str) -> None:
    op.create_index(f"ix_{table}_{'_'.join(columns)}", table, [*columns])
