"""Events as CSV and as JSON lines.

Both have the same columns: `first`, `last`, `kind`, `ecu`, `channel`, `name`, `service`, `fields`,
`payload`, `answers`, `message`, and where it stands: `file`, `line`. Dates are exact numbers of
seconds; `payload` is in hexadecimal digits; `fields` is a text as in
:mod:`whence.formats.events.text`, in JSON lines a list of objects with `name`, `value` and, if
there is one, `text`. An annotation has the kind `comment` or, say, `verdict:fail`, and its text in
`message`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, BinaryIO, Final

from whence.formats.can.lines import Item, broken, stretches
from whence.formats.events.text import (
    KINDS_BY_NAME,
    LONGEST,
    number_of,
    payload_of,
)
from whence.formats.events.values import (
    date_text,
    field_texts,
    pair_of,
    parse_date,
    parse_fields,
)
from whence.model.events import VERDICTS, Annotation, BusEvent, Field
from whence.source import Diagnostic, Origin

__all__ = [
    "COLUMNS",
    "csv_header",
    "csv_line",
    "json_line",
    "json_object",
    "read_csv",
    "read_jsonl",
]

COLUMNS: Final = (
    "first", "last", "kind", "ecu", "channel", "name", "service", "fields", "payload", "answers",
    "message", "file", "line",
)  # fmt: skip
Told = BusEvent | Annotation


# ---------------------------------------------------------------------------------------- writing


def csv_header() -> str:
    return ",".join(COLUMNS)


def csv_line(told: Told) -> str:
    """One row, without its end (a text in it may hold ends of lines, in quotes)."""
    row = _row(told)
    if isinstance(told, BusEvent):
        row["fields"] = " ".join(field_texts(told.fields))
    stream = io.StringIO()
    csv.writer(stream, lineterminator="").writerow(
        ["" if row[name] is None else row[name] for name in COLUMNS]
    )
    return stream.getvalue()


def json_line(told: Told) -> str:
    return json.dumps(json_object(told))


def json_object(told: Told) -> dict[str, Any]:
    """All columns that say something."""
    row = _row(told)
    if isinstance(told, BusEvent):
        row["fields"] = [_json_field(field) for field in told.fields]
    return {name: row[name] for name in COLUMNS if row[name] not in (None, "", [])}


def _json_field(field: Field) -> dict[str, Any]:
    plain = {"name": field.name, "value": field.value}
    return {**plain, "text": field.text} if field.text else plain


def _row(told: Told) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys(COLUMNS)
    row["file"], row["line"] = told.origin.file, told.origin.line or None
    if isinstance(told, Annotation):
        row["first"] = date_text(told.time)
        row["kind"] = f"verdict:{told.verdict}" if told.kind == "verdict" else "comment"
        row["message"] = told.text
        return row
    row["first"], row["last"] = date_text(told.first), date_text(told.last)
    row["kind"], row["ecu"], row["name"] = told.kind, told.ecu, told.name
    row["channel"], row["message"] = told.channel, told.message
    row["service"], row["answers"] = told.service, told.answers
    row["payload"] = told.payload.hex().upper()
    return row


# ---------------------------------------------------------------------------------------- reading


def read_csv(stream: BinaryIO, file: str) -> Iterator[BusEvent | Item]:
    """The first row names the columns; `first` and `kind` are needed, others may be missing."""
    limit = csv.field_size_limit()
    csv.field_size_limit(LONGEST)
    try:
        rows = csv.reader(_lines(stream), strict=True)
        header: list[str] | None = None
        while True:
            try:
                row = next(rows, None)
            except csv.Error as error:
                place = Origin(file, rows.line_num, 1)
                yield Diagnostic(f"not CSV: {error}", place, "this record is left out")
                continue
            if row is None:
                return
            if not row:
                continue
            number = rows.line_num
            if header is None:
                header = [name.strip().removeprefix("\ufeff") for name in row]
                continue
            if len(row) > len(header):
                yield broken(file, number, ",".join(row), "more values than the header has columns")
                continue
            values = {name: text for name, text in zip(header, row, strict=False) if text}
            try:
                fields, _ = parse_fields(values.get("fields", ""))
                yield _told(values, fields, Origin(file, number, 1))
            except (ValueError, RecursionError) as error:
                yield broken(file, number, ",".join(row), str(error))
    finally:
        csv.field_size_limit(limit)


def _lines(stream: BinaryIO) -> Iterator[str]:
    for _, lines in stretches(stream, LONGEST):
        for line in lines:
            yield _unicode(line) + "\n"


def _unicode(line: str) -> str:
    return line.encode("latin-1").decode("utf-8", "replace")


def read_jsonl(stream: BinaryIO, file: str) -> Iterator[BusEvent | Item]:
    for first, lines in stretches(stream, LONGEST):
        for number, line in enumerate(lines, first):
            text = _unicode(line).strip().removeprefix("\ufeff")
            if not text:
                continue
            try:
                yield _of_object(json.loads(text, parse_float=str), Origin(file, number, 1))
            except (ValueError, RecursionError) as error:
                why = "not JSON" if isinstance(error, json.JSONDecodeError) else str(error)
                yield broken(file, number, line, why)


def _of_object(value: object, origin: Origin) -> Told:
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    texts: dict[str, str] = {}
    for name in COLUMNS:
        part = value.get(name)
        if name == "fields" or part is None:
            continue
        if isinstance(part, bool) or not isinstance(part, str | int):
            raise ValueError(f"`{name}` is neither a text nor a number")
        texts[name] = str(part)
    return _told(texts, _json_fields(value.get("fields", [])), origin)


def _json_fields(value: object) -> tuple[Field, ...]:
    if not isinstance(value, list):
        raise ValueError("`fields` is not a list")
    fields = []
    for part in value:
        if not isinstance(part, dict):
            raise ValueError("`fields` has something that is not an object")
        name, content, text = part.get("name"), part.get("value"), part.get("text", "")
        if not isinstance(name, str) or not isinstance(text, str):
            raise ValueError("a field has no name, or its text is none")
        if isinstance(content, bool) or not isinstance(content, str | int):
            raise ValueError("the value of a field is neither a text nor an integer")
        fields.append(Field(name, content, text))
    return tuple(fields)


def _told(values: Mapping[str, str], fields: tuple[Field, ...], origin: Origin) -> Told:
    kind = values.get("kind", "")
    first = _date(values.get("first", ""))
    message = values.get("message", "")
    if kind == "comment":
        return Annotation("comment", message, "", first, 0, origin)
    if kind.startswith("verdict:"):
        for verdict in VERDICTS:
            if kind == f"verdict:{verdict}":
                return Annotation("verdict", message, verdict, first, 0, origin)
    if kind not in KINDS_BY_NAME:
        raise ValueError(f"`{kind}` is no kind of event" if kind else "no kind")
    ecu = values.get("ecu", "")
    return BusEvent(
        KINDS_BY_NAME[kind],
        first,
        _date(values.get("last", "")) if values.get("last") else first,
        values.get("name", ""),
        ecu,
        number_of("service", values.get("service", "")),
        fields,
        payload_of(values.get("payload", "")),
        number_of("answers", values.get("answers", "")),
        message,
        pair_of(ecu),
        values.get("channel", ""),
        origin,
    )


def _date(text: str) -> Fraction | None:
    if not text:
        return None
    date = parse_date(text)
    if date is None:
        raise ValueError(f"`{text[:40]}` is no date")
    return date
