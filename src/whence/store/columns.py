"""What stands in the columns of a store: any text, and any JSON, as both databases can hold it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from sqlalchemy import Text
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator

__all__ = ["Damaged", "Record", "Words"]

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

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        if value is None:
            return None
        return _ODD.sub(lambda found: f"{_ESCAPE}{ord(found[0]):04x}", value)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        if value is None:
            return None
        if not isinstance(value, str):
            raise Damaged("a text is none")
        if _ESCAPE not in value:
            return value
        try:
            return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), value)
        except ValueError:
            raise Damaged("a text is not as it was written") from None


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
