"""The tables as they were at revision 0035, where migrations begin: nothing was released before.

One file, since a migration is one.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

from lib.database.columns import Key, keys, required

revision = "0035"
down_revision = None

INSTANT, TEXT = sa.DateTime(timezone=True), sa.Text()


def upgrade() -> None:
    """Make the tables, each after those that it refers to."""
    _people_and_tokens()
    _deals()
    _work_on_deals()
    _views()


def _people_and_tokens() -> None:
    op.create_table("people", *keys(username=sa.String(64)), *required(record=TEXT))
    op.create_table(
        "sign_ins", *keys(username=sa.String(64), ends=sa.Double()), *required(proof=sa.String(64))
    )
    op.create_index("ix_sign_ins_ends", "sign_ins", ["ends"])
    op.create_table(
        "attempts",
        sa.Column("id", Key, primary_key=True),
        *required(kind=sa.String(7), name=sa.String(64), origin=sa.String(64), at=sa.Double()),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_attempts_at", "attempts", ["at"])
    op.create_index("ix_attempts_kind_name_origin", "attempts", ["kind", "name", "origin"])
    op.create_table("secrets", *keys(name=sa.String(64)), *required(value=sa.String(64)))
    op.create_table(
        "admissions",
        sa.Column("id", Key, primary_key=True),
        *required(caller=sa.String(100), process=sa.String(32), at=sa.Double(), count=sa.Integer()),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_admissions_at", "admissions", ["at"])
    op.create_index("ix_admissions_caller", "admissions", ["caller"])
    op.create_table("id_tokens", *keys(digest=sa.String(64)), *required(ends=sa.Double()))
    op.create_index("ix_id_tokens_ends", "id_tokens", ["ends"])
    op.create_table(
        "audit",
        sa.Column("id", Key, primary_key=True),
        *required(at=INSTANT, who=sa.String(100), event=sa.String(20), about=sa.String(100), detail=TEXT),
        *_optional(address=sa.String(64)),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_audit_about_id", "audit", ["about", "id"])
    op.create_index("ix_audit_event_id", "audit", ["event", "id"])
    op.create_table(
        "tokens",
        sa.Column("id", sa.Integer(), primary_key=True),
        *required(
            prefix=sa.String(40),
            digest=sa.String(64),
            owner=sa.String(64),
            name=sa.String(200),
            service=sa.String(100),
            kind=sa.String(9),
            grants=sa.JSON(),
            created=INSTANT,
        ),
        *_optional(expires=INSTANT, last_used=INSTANT, revoked=INSTANT, deals=TEXT),
        sa.UniqueConstraint("digest"),
        sa.CheckConstraint("kind in ('permanent', 'temporary')", name="ck_tokens_kind"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_tokens_kind_expires", "tokens", ["kind", "expires"])
    op.create_index("ix_tokens_owner", "tokens", ["owner"])


def _deals() -> None:
    op.create_table(
        "dsps",
        sa.Column("id", Key, primary_key=True),
        *required(
            name=sa.String(500),
            folded=TEXT,
            supports_deal_sync=sa.Boolean(),
            version=sa.Integer(),
            created_at=INSTANT,
            updated_at=INSTANT,
        ),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "seats",
        sa.Column("id", Key, primary_key=True),
        *required(name=sa.String(500), folded=TEXT),
        *_optional(external_id=sa.String(200)),
        *required(dsp_id=Key, version=sa.Integer(), created_at=INSTANT, updated_at=INSTANT),
        sa.ForeignKeyConstraint(["dsp_id"], ["dsps.id"], ondelete="RESTRICT"),
        sa.UniqueConstraint("dsp_id", "external_id"),
        sa.UniqueConstraint("dsp_id", "name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "domain_lists",
        sa.Column("id", Key, primary_key=True),
        *required(
            name=sa.String(500),
            folded=TEXT,
            domains=TEXT,
            version=sa.Integer(),
            created_at=INSTANT,
            updated_at=INSTANT,
        ),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "app_lists",
        sa.Column("id", Key, primary_key=True),
        *required(
            name=sa.String(500),
            folded=TEXT,
            apps=TEXT,
            version=sa.Integer(),
            created_at=INSTANT,
            updated_at=INSTANT,
        ),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "supply_packages",
        sa.Column("id", Key, primary_key=True),
        *required(
            name=sa.String(500),
            folded=TEXT,
            is_active=sa.Boolean(),
            is_dynamic_bidding=sa.Boolean(),
            is_true_price_opt_enable=sa.Boolean(),
            media_type=sa.String(20),
            start_date=INSTANT,
            start_date_offset=sa.Integer(),
        ),
        *_optional(end_date=INSTANT, end_date_offset=sa.Integer()),
        *required(
            browser_targetings=TEXT,
            device_targetings=TEXT,
            geo_targetings=TEXT,
            operating_system_targetings=TEXT,
            size_targetings=TEXT,
            version=sa.Integer(),
            created_at=INSTANT,
            updated_at=INSTANT,
        ),
        *_optional(made_by=sa.String(64), made_with=sa.Integer()),
        sa.Column("targets", TEXT, nullable=False, server_default=""),
        sa.CheckConstraint("end_date > start_date", name="ck_supply_packages_dates"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_supply_packages_made_by", "supply_packages", ["made_by"])
    op.create_index("ix_supply_packages_start_date", "supply_packages", ["start_date"])
    op.create_table(
        "packages",
        sa.Column("id", Key, primary_key=True),
        *required(
            name=sa.String(500), folded=TEXT, version=sa.Integer(), created_at=INSTANT, updated_at=INSTANT
        ),
        *_optional(made_by=sa.String(64), made_with=sa.Integer()),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_packages_made_by", "packages", ["made_by"])
    op.create_table("deal_ids", *keys(deal_id=sa.String(40)), *required(given=INSTANT))
    op.create_table(
        "demand_deals",
        sa.Column("id", Key, primary_key=True),
        *required(name=sa.String(500), folded=TEXT, deal_id=sa.String(40), seat_id=Key),
        *_optional(package_id=Key, price=sa.BigInteger()),
        *required(deal_sync=sa.Boolean(), is_active=sa.Boolean()),
        *_optional(
            agency_curation_fee=sa.BigInteger(),
            agency_curation_fee_type=sa.Integer(),
            contact_email=sa.String(254),
        ),
        *required(version=sa.Integer(), created_at=INSTANT, updated_at=INSTANT),
        *_optional(
            price_type=sa.String(20),
            units=sa.BigInteger(),
            budget=sa.BigInteger(),
            frequency_cap=sa.BigInteger(),
            viewability_goal=sa.BigInteger(),
            deal_type=sa.String(20),
            pacing=sa.String(20),
            audience_segments=sa.String(200),
            buyer_note=sa.String(200),
            priority=sa.BigInteger(),
            house_code=sa.String(200),
        ),
        sa.ForeignKeyConstraint(["deal_id"], ["deal_ids.deal_id"]),
        sa.ForeignKeyConstraint(["package_id"], ["packages.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["seat_id"], ["seats.id"], ondelete="RESTRICT"),
        sa.UniqueConstraint("deal_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_demand_deals_package_id", "demand_deals", ["package_id"])
    op.create_index("ix_demand_deals_seat_id", "demand_deals", ["seat_id"])
    op.create_table(
        "supply_package_deals",
        *keys(supply_package_id=Key, demand_deal_id=Key),
        sa.ForeignKeyConstraint(["demand_deal_id"], ["demand_deals.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["supply_package_id"], ["supply_packages.id"], ondelete="RESTRICT"),
    )
    op.create_index(
        "ix_supply_package_deals_demand_deal_id_supply_package_id",
        "supply_package_deals",
        ["demand_deal_id", "supply_package_id"],
    )
    op.create_table(
        "supply_domain_lists",
        *keys(supply_package_id=Key, list_id=Key),
        *required(is_excluded=sa.Boolean()),
        sa.ForeignKeyConstraint(["list_id"], ["domain_lists.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["supply_package_id"], ["supply_packages.id"], ondelete="CASCADE"),
    )
    op.create_index(
        "ix_supply_domain_lists_list_id_supply_package_id",
        "supply_domain_lists",
        ["list_id", "supply_package_id"],
    )
    op.create_table(
        "supply_app_lists",
        *keys(supply_package_id=Key, list_id=Key),
        *required(is_excluded=sa.Boolean()),
        sa.ForeignKeyConstraint(["list_id"], ["app_lists.id"], ondelete="RESTRICT"),
        sa.ForeignKeyConstraint(["supply_package_id"], ["supply_packages.id"], ondelete="CASCADE"),
    )
    op.create_index(
        "ix_supply_app_lists_list_id_supply_package_id", "supply_app_lists", ["list_id", "supply_package_id"]
    )
    op.create_table(
        "package_seats",
        *keys(package_id=Key, seat_id=Key),
        *required(value=sa.Boolean()),
        sa.ForeignKeyConstraint(["package_id"], ["packages.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["seat_id"], ["seats.id"], ondelete="RESTRICT"),
    )
    op.create_index("ix_package_seats_seat_id_package_id", "package_seats", ["seat_id", "package_id"])
    op.create_table(
        "package_supply_packages",
        *keys(package_id=Key, supply_package_id=Key),
        sa.ForeignKeyConstraint(["package_id"], ["packages.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["supply_package_id"], ["supply_packages.id"], ondelete="RESTRICT"),
    )
    op.create_index(
        "ix_package_supply_packages_supply_package_id_package_id",
        "package_supply_packages",
        ["supply_package_id", "package_id"],
    )
    op.create_table(
        "changes",
        sa.Column("id", Key, primary_key=True),
        *required(
            entity=sa.String(20),
            entity_id=Key,
            version=sa.Integer(),
            at=INSTANT,
            who=sa.String(64),
            action=sa.String(10),
        ),
        *_optional(before=TEXT, after=TEXT),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_changes_entity_entity_id_id", "changes", ["entity", "entity_id", "id"])
    op.create_table(
        "idempotency_keys",
        *keys(owner=sa.String(64), key=sa.String(255)),
        *required(entity=sa.String(20), body=TEXT, answer=TEXT, etag=sa.String(60), at=INSTANT),
    )
    op.create_index("ix_idempotency_keys_at", "idempotency_keys", ["at"])


def _work_on_deals() -> None:
    op.create_table(
        "remembered",
        sa.Column("id", Key, primary_key=True),
        *required(
            service=sa.String(500),
            entity=sa.String(20),
            entity_id=Key,
            at=INSTANT,
            who=sa.String(64),
            action=sa.String(10),
            body=TEXT,
        ),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "ix_remembered_service_entity_entity_id_id", "remembered", ["service", "entity", "entity_id", "id"]
    )
    op.create_table(
        "drafts", *keys(username=sa.String(64), service=sa.String(500)), *required(at=INSTANT, body=TEXT)
    )
    op.create_table(
        "package_questions",
        *keys(service=sa.String(500), package_id=sa.BigInteger()),
        *required(
            reporting=sa.String(500),
            project=sa.String(200),
            slicer=sa.String(200),
            params=TEXT,
            owner=sa.String(64),
            at=INSTANT,
        ),
    )
    op.create_table(
        "package_notes",
        *keys(service=sa.String(500), package_id=sa.BigInteger()),
        *required(owner=sa.String(100), note=TEXT, who=sa.String(64), at=INSTANT),
    )
    op.create_table(
        "deal_entries",
        sa.Column("id", Key, primary_key=True),
        *required(
            service=sa.String(500),
            kind=sa.String(20),
            name=sa.String(100),
            body=TEXT,
            owner=sa.String(64),
            is_shared=sa.Boolean(),
            created=INSTANT,
            changed=INSTANT,
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_deal_entries_service_kind", "deal_entries", ["service", "kind"])
    op.create_table(
        "synced_deals",
        *keys(deal_id=sa.String(40), seat_id=Key),
        *required(demand_deal_id=Key, buyer_seat=sa.String(200), document=TEXT),
        *_optional(
            fetched_at=INSTANT,
            fetched_by=sa.String(64),
            status=sa.Integer(),
            status_at=INSTANT,
            status_by=sa.String(64),
        ),
        sa.Column("is_archived", sa.Boolean(), nullable=False, server_default=sa.false()),
        *_optional(changed_from=INSTANT, sent_at=INSTANT, due=INSTANT),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        *_optional(problem=sa.String(200), asked_at=INSTANT, status_reason=sa.String(500)),
    )
    op.create_table(
        "bulk_actions",
        sa.Column("id", Key, primary_key=True),
        *required(service=sa.String(500), title=sa.String(100), who=sa.String(64), at=INSTANT),
        *_optional(undone_by=sa.String(64), undone_at=INSTANT),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_bulk_actions_service_at", "bulk_actions", ["service", "at"])
    op.create_table(
        "bulk_action_rows",
        *keys(action_id=Key, entity=sa.String(40), entity_id=sa.BigInteger()),
        *required(name=TEXT, before=TEXT, after=TEXT, is_undone=sa.Boolean()),
        sa.ForeignKeyConstraint(["action_id"], ["bulk_actions.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "health_reports",
        sa.Column("id", Key, primary_key=True),
        *required(project=sa.String(200), slicer=sa.String(200), basis=sa.String(64), last_day=sa.String(10)),
        *_optional(checked_at=INSTANT),
        *required(problem=TEXT),
        sa.UniqueConstraint("project", "slicer"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "deal_health",
        *keys(report_id=Key, deal_id=Key),
        *required(state=sa.String(20), facts=TEXT, computed_at=INSTANT, basis=sa.String(64)),
        *_optional(until=INSTANT),
        *required(
            deal_version=sa.Integer(),
            packages_version=sa.Integer(),
            seat_version=sa.Integer(),
            dsp_version=sa.Integer(),
        ),
        *_optional(
            impressions_7_days=sa.Float(53),
            spend_7_days=sa.Float(53),
            win_rate_7_days=sa.Float(53),
            pacing_7_days=sa.Float(53),
            impressions_30_days=sa.Float(53),
            spend_30_days=sa.Float(53),
            win_rate_30_days=sa.Float(53),
            pacing_30_days=sa.Float(53),
        ),
        sa.ForeignKeyConstraint(["deal_id"], ["demand_deals.id"], ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["report_id"], ["health_reports.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_deal_health_deal_id", "deal_health", ["deal_id"])
    op.create_index("ix_deal_health_report_id_state", "deal_health", ["report_id", "state"])
    op.create_table(
        "proposals",
        sa.Column("id", Key, primary_key=True),
        *required(service=sa.String(500), entity=sa.String(20)),
        *_optional(entity_id=sa.BigInteger()),
        *required(name=TEXT, fields=TEXT, before=TEXT, reason=TEXT),
        *_optional(question=TEXT, expected=TEXT),
        *required(by=sa.String(64)),
        *_optional(made_with=sa.Integer()),
        *required(at=INSTANT, state=sa.String(20)),
        *_optional(decided_by=sa.String(64), decided_at=INSTANT),
        *required(word=TEXT),
        *_optional(applied_id=sa.BigInteger()),
        *required(is_edited=sa.Boolean()),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_proposals_service_state", "proposals", ["service", "state"])
    op.create_table(
        "negotiation_rounds",
        *keys(
            service=sa.String(500), deal_id=sa.BigInteger(), seat_id=sa.BigInteger(), number=sa.BigInteger()
        ),
        *required(side=sa.String(10), act=sa.String(10)),
        *_optional(price=sa.BigInteger(), units=sa.BigInteger(), first_day=sa.Date(), last_day=sa.Date()),
        *required(word=TEXT, who=TEXT),
        *_optional(link_id=sa.BigInteger()),
        *required(at=INSTANT),
    )
    op.create_table(
        "buyer_counts",
        *keys(service=sa.String(500), deal_id=sa.BigInteger(), seat_id=sa.BigInteger(), day=sa.Date()),
        *_optional(
            requests=sa.BigInteger(), bids=sa.BigInteger(), wins=sa.BigInteger(), spend=sa.BigInteger()
        ),
        *required(link_id=sa.BigInteger(), at=INSTANT),
    )
    op.create_table(
        "supply_files",
        sa.Column("id", Key, primary_key=True),
        *required(
            kind=sa.String(20),
            domain=sa.String(253),
            records=sa.Integer(),
            variables=TEXT,
            problems=TEXT,
            problem_count=sa.Integer(),
            who=sa.String(100),
            at=INSTANT,
        ),
        sa.UniqueConstraint("kind", "domain"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "supply_accounts",
        *required(
            file_id=Key,
            system=sa.String(253),
            account=sa.String(200),
            relation=sa.String(20),
            domain=sa.String(253),
        ),
        sa.ForeignKeyConstraint(["file_id"], ["supply_files.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_supply_accounts_file_id", "supply_accounts", ["file_id"])
    op.create_index("ix_supply_accounts_system_account", "supply_accounts", ["system", "account"])
    op.create_table(
        "supply_apps",
        *keys(app=sa.String(200)),
        *required(file_id=Key, domain=sa.String(253)),
        sa.ForeignKeyConstraint(["file_id"], ["supply_files.id"], ondelete="CASCADE"),
    )
    op.create_index("ix_supply_apps_file_id", "supply_apps", ["file_id"])


def _views() -> None:
    op.create_table(
        "saved_views",
        sa.Column("id", Key, primary_key=True),
        *required(
            service=sa.String(500),
            project=sa.String(200),
            slicer=sa.String(200),
            name=sa.String(100),
            params=TEXT,
            owner=sa.String(64),
            is_shared=sa.Boolean(),
            created=INSTANT,
            changed=INSTANT,
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_saved_views_service_project_slicer", "saved_views", ["service", "project", "slicer"])
    op.create_table(
        "start_views",
        *keys(username=sa.String(64), service=sa.String(500)),
        *required(view_id=Key, at=INSTANT),
        sa.ForeignKeyConstraint(["view_id"], ["saved_views.id"], ondelete="CASCADE"),
    )
    op.create_table(
        "notes",
        sa.Column("id", Key, primary_key=True),
        *required(
            service=sa.String(500),
            project=sa.String(200),
            slicer=sa.String(200),
            day=sa.Date(),
            text=TEXT,
            owner=sa.String(64),
            created=INSTANT,
        ),
        *_optional(view_id=Key),
        sa.ForeignKeyConstraint(["view_id"], ["saved_views.id"], ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_notes_service_project_slicer_day", "notes", ["service", "project", "slicer", "day"])
    op.create_index("ix_notes_view_id", "notes", ["view_id"])
    op.create_table(
        "chosen_cards",
        *keys(username=sa.String(64), service=sa.String(500), project=sa.String(200), slicer=sa.String(200)),
        *required(cards=TEXT, at=INSTANT),
    )
    op.create_table(
        "alerts",
        sa.Column("id", Key, primary_key=True),
        *required(
            view_id=Key,
            owner=sa.String(64),
            created=INSTANT,
            field=sa.String(500),
            figure=TEXT,
            rule=sa.String(20),
        ),
        *_optional(bound=sa.Double()),
        *required(state=sa.String(20)),
        *_optional(since=INSTANT, value=sa.Double(), low=sa.Double(), high=sa.Double()),
        *required(problem=TEXT),
        *_optional(checked=INSTANT),
        sa.ForeignKeyConstraint(["view_id"], ["saved_views.id"], ondelete="CASCADE"),
        sa.UniqueConstraint("view_id", "owner"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_alerts_owner", "alerts", ["owner"])
    op.create_table(
        "alert_messages",
        sa.Column("id", Key, primary_key=True),
        *required(body=TEXT, attempts=sa.Integer(), due=INSTANT),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "own_metrics",
        sa.Column("id", Key, primary_key=True),
        *required(
            service=sa.String(500),
            project=sa.String(200),
            slicer=sa.String(200),
            name=sa.String(100),
            formula=TEXT,
            unit=sa.String(20),
            digits=sa.Integer(),
            owner=sa.String(64),
            is_shared=sa.Boolean(),
            created=INSTANT,
            changed=INSTANT,
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_own_metrics_service_project_slicer", "own_metrics", ["service", "project", "slicer"])
    op.create_table(
        "mail_subscriptions",
        sa.Column("id", Key, primary_key=True),
        *_optional(view_id=Key),
        *required(
            service=sa.String(500),
            owner=sa.String(64),
            created=INSTANT,
            recipient=sa.String(254),
            pace=sa.String(10),
            zone=sa.String(64),
            minute=sa.Integer(),
            weekday=sa.Integer(),
            only_new=sa.Boolean(),
            with_snapshot=sa.Boolean(),
            due=INSTANT,
            mark=TEXT,
            failures=sa.Integer(),
            problem=TEXT,
        ),
        *_optional(sent=INSTANT),
        sa.ForeignKeyConstraint(["view_id"], ["saved_views.id"], ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_mail_subscriptions_owner", "mail_subscriptions", ["owner"])
    op.create_index("ix_mail_subscriptions_view_id", "mail_subscriptions", ["view_id"])
    op.create_table(
        "mail_messages",
        sa.Column("id", Key, primary_key=True),
        *_optional(subscription_id=Key),
        *required(
            owner=sa.String(64),
            recipient=sa.String(254),
            project=sa.String(200),
            slicer=sa.String(200),
            body=TEXT,
            created=INSTANT,
            attempts=sa.Integer(),
            due=INSTANT,
        ),
        sa.ForeignKeyConstraint(["subscription_id"], ["mail_subscriptions.id"], ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_mail_messages_subscription_id", "mail_messages", ["subscription_id"])
    op.create_table(
        "share_links",
        sa.Column("id", Key, primary_key=True),
        *required(
            service=sa.String(500),
            project=sa.String(200),
            slicer=sa.String(200),
            name=sa.String(100),
            params=TEXT,
            origins=TEXT,
            secret_hash=sa.String(64),
            owner=sa.String(64),
            created=INSTANT,
            expires=INSTANT,
        ),
        *_optional(
            opened=INSTANT, deal=sa.BigInteger(), deals_service=sa.String(500), recipient=sa.String(254)
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_share_links_service_owner", "share_links", ["service", "owner"])
    op.create_table(
        "link_codes",
        *keys(link_id=sa.BigInteger()),
        *required(code_hash=sa.String(64), made=INSTANT, tries=sa.Integer()),
    )
    op.create_table(
        "link_visits", *keys(key_hash=sa.String(64)), *required(link_id=sa.BigInteger(), expires=INSTANT)
    )


def _optional(**kinds: Any) -> list[sa.Column[Any]]:
    return [sa.Column(name, kind) for name, kind in kinds.items()]
