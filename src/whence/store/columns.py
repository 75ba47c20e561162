"""What stands in the columns of a store: any text, and any JSON, as both databases can hold it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from sqlalchemy import BigInteger, Boolean, Integer, Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

__all__ = ["Count", "Damaged", "Record", "Truth", "Words"]

_ESCAPE: Final = "\x1b"
#: PostgreSQL takes no NUL in a text, and neither takes half a surrogate pair, which names of files
#: and texts in logs may hold.
_ODD: Final = re.compile("[\x00\x1b\ud800-\udfff]")
_ESCAPED: Final = re.compile("\x1b(.{4})", re.DOTALL)


class Damaged(Exception):
    """What stands in a store cannot be what we wrote."""


class Words(TypeDecorator[str]):
    """A text. Characters that a database does not take are an escape and four digits."""

    impl = Text
    cache_ok = True

    def __init__(self, optional: bool = False) -> None:
        super().__init__()
        self.optional = optional

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return _ODD.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        if value is None and self.optional:
            return None
        if not isinstance(value, str):
            raise Damaged("a text is none")
        if _ESCAPE not in value:
            return value
        try:
            return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
        except ValueError:
            raise Damaged("a text is not as it was written") from None


class Count(TypeDecorator[int]):
    """An integer, whatever else SQLite lets stand in its columns. `number`: the database numbers
    rows by it, which SQLite only does where the column is an INTEGER."""

    impl = BigInteger
    cache_ok = True

    def __init__(self, optional: bool = False, number: bool = False) -> None:
        super().__init__()
        self.optional = optional
        self.number = number

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        plain = Integer() if self.number and dialect.name == "sqlite" else BigInteger()
        return dialect.type_descriptor(plain)

    def process_result_value(self, value: Any, dialect: Dialect) -> int | None:
        if value is None and self.optional:
            return None
        if type(value) is not int:
            raise Damaged("a number is none")
        return value


class Truth(TypeDecorator[bool]):
    impl = Boolean
    cache_ok = True

    def process_result_value(self, value: Any, dialect: Dialect) -> bool:
        if value is not True and value is not False:
            raise Damaged("a truth is none")
        return value


class Record(TypeDecorator[Any]):
    """JSON, as a text in ASCII: types for JSON differ, and some do not take what is in logs."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: Any, dialect: Dialect) -> str:
        return json.dumps(value, separators=(",", ":"))

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        try:
            return json.loads(value)
        except (ValueError, TypeError, RecursionError):
            raise Damaged("a record is no JSON") from None
