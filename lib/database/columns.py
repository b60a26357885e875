"""Shared by all tables: one metadata with named constraints, our column types, and how tables are made."""

from dataclasses import Field, fields
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, TypeVar

from sqlalchemy import BigInteger, Column, DateTime, Integer, MetaData, Row, Table, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

from lib.wire import exact

Model = TypeVar("Model")
metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)
Key = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts up by itself for INTEGER alone


def numbered_table(name: str, *parts: Any) -> Table:
    """A table whose rows have an id, which is never given twice."""
    return Table(name, metadata, Column("id", Key, primary_key=True), *parts, sqlite_autoincrement=True)


def required(**kinds: Any) -> list[Column[Any]]:
    """Columns that can't be NULL, by their types."""
    return [Column(name, kind, nullable=False) for name, kind in kinds.items()]


def optional(**kinds: Any) -> list[Column[Any]]:
    """Columns that may be NULL, by their types."""
    return [Column(name, kind) for name, kind in kinds.items()]


def keys(**kinds: Any) -> list[Column[Any]]:
    """The columns of a primary key, by their types; their values are given."""
    return [Column(name, kind, primary_key=True, autoincrement=False) for name, kind in kinds.items()]


def from_row(model: type[Model], row: Row[Any], **more: Any) -> Model:
    """The dataclass of a row: its columns by the names of fields; `more` are others, or stand instead."""
    own_fields: tuple[Field[Any], ...] = fields(model)  # type: ignore[arg-type]
    names = [field.name for field in own_fields if field.name not in more]
    return model(**{name: row._mapping[name] for name in names}, **more)


class Instant(TypeDecorator[datetime]):
    """A point in time: goes in with any zone, comes out in UTC (SQLite keeps no zone, so UTC is written)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """To UTC; a time without a zone is an error of the program."""
        if value is not None and value.tzinfo is None:
            raise ValueError(f"a time without a zone: {value}")
        return None if value is None else value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Amount(TypeDecorator[Decimal]):
    """An amount with up to six decimals, kept as millionths: exact, and ordered alike, in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """To millionths; more decimals are an error of the program."""
        if value is None:
            return None
        millionths = int(value.scaleb(6))
        if millionths != value.scaleb(6):
            raise ValueError(f"more than six decimals: {value}")
        return millionths

    def process_result_value(self, value: int | None, dialect: Dialect) -> Decimal | None:
        return None if value is None else Decimal(value).scaleb(-6)


class Document(TypeDecorator[Any]):
    """A value of JSON, kept as its text: decimals stay decimals."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """To text; None is no value at all."""
        return None if value is None else exact.dumps(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return [] if value == "[]" else None if value is None else exact.loads(value.encode())
