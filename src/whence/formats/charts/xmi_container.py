"""Models in ZIP archives: MagicDraw's and Cameo's `.mdzip`, or another with one XMI file."""

from __future__ import annotations

import io
import re
import zipfile
import zlib

from whence.formats.markup import MAX_BYTES
from whence.source import Diagnostic, InputError, Origin

__all__ = ["is_archive", "looks_like_uml", "unpacked"]

_MOST_MEMBERS = 10_000
#: Where Cameo keeps the model in its archive.
_MODEL = "com.nomagic.magicdraw.uml_model.model"
_SUFFIXES = (".xmi", ".uml", ".xml", ".model")
_NAMESPACE = re.compile(
    r"xmlns(:\w+)?\s*=\s*[\"']https?://(www|schema)\.omg\.org/spec/XMI(/|[\"'])"
    r"|<(\w+:)?XMI\b[^>]*\bxmi\.version"
)


def is_archive(data: bytes) -> bool:
    return data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def looks_like_uml(data: bytes) -> bool:
    """Whether the start of a file is that of XMI."""
    start = data[:16384]
    if start.startswith((b"\xff\xfe", b"<\0")):
        text = start.decode("utf-16-le", "replace")
    elif start.startswith((b"\xfe\xff", b"\0<")):
        text = start.decode("utf-16-be", "replace")
    else:
        text = start.decode("utf-8", "replace")
    return text.lstrip("\ufeff \t\r\n").startswith("<") and _NAMESPACE.search(text) is not None


def unpacked(data: bytes, file: str) -> tuple[bytes, str]:
    """The model in an archive, and what to call it in messages."""
    place = Origin(file)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return _model(archive, file, place)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        NotImplementedError,
        OSError,
        RuntimeError,
        ValueError,
    ) as error:
        raise InputError(
            Diagnostic(f"the archive cannot be read: {error}", place, "was it cut off?")
        ) from None


def _model(archive: zipfile.ZipFile, file: str, place: Origin) -> tuple[bytes, str]:
    members = [one for one in archive.infolist() if not one.is_dir()]
    if len(members) > _MOST_MEMBERS:
        raise InputError(
            Diagnostic(f"the archive has more than {_MOST_MEMBERS} files, our limit", place)
        )
    chosen = [one for one in members if one.filename.rpartition("/")[2] == _MODEL]
    if not chosen:
        chosen = [
            one
            for one in members
            if one.filename.lower().endswith(_SUFFIXES)
            and not one.filename.lower().endswith((".profile.uml", ".profile.xmi"))
            and looks_like_uml(_bytes(archive, one, 16384, place))
        ]
    if len(chosen) != 1:
        names = ", ".join(one.filename for one in chosen[:5])
        raise InputError(
            Diagnostic(
                f"the archive has several models: {names}"
                if chosen
                else "there is no model in XMI in the archive",
                place,
                "unpack it, and name the model's file" if chosen else "",
            )
        )
    found = _bytes(archive, chosen[0], MAX_BYTES + 1, place)
    if len(found) > MAX_BYTES:
        raise InputError(
            Diagnostic(
                f"the model in the archive is larger than {MAX_BYTES // 2**20} MiB, our limit",
                place,
            )
        )
    return found, f"{file}/{chosen[0].filename}"


def _bytes(archive: zipfile.ZipFile, member: zipfile.ZipInfo, limit: int, place: Origin) -> bytes:
    if member.flag_bits & 1:
        raise InputError(Diagnostic(f"{member.filename} in the archive is encrypted", place))
    with archive.open(member) as stream:
        return stream.read(limit)
