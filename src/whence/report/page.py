"""The frame of every page: one HTML file that needs no network, no fonts and no other files.

Names and texts of the model are hostile: all of them go through :func:`whence.report.svg.escaped`,
none of them gets into the script, and the page's own security policy lets no other script run.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence

from whence.model.trace import Verdict
from whence.report.svg import Attribute, asset, attributes, escaped

__all__ = ["badge", "code", "figure", "items", "page", "tag"]


def page(
    title: str,
    body: Sequence[str],
    version: str,
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> str:
    """A whole page. `styles` and `scripts` are assets besides those that every page has."""
    codes = [asset(name) for name in ("report.js", *scripts)]
    # With their hashes in the policy these scripts run, and no others.
    hashes = " ".join(f"'sha256-{_digest(code)}'" for code in codes)
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src {hashes}"
    sheets = map(asset, ("diagram.css", "report.css", *styles))
    head = [
        '<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{escaped(policy)}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        tag("title", escaped(title)),
        tag("style", "\n", *sheets),
    ]
    all_of_it = [*body, tag("footer", f"Written by whence {escaped(version)}.")]
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en">',
            tag("head", "\n", "\n".join(head), "\n"),
            tag(
                "body", "\n", "\n".join(all_of_it), "\n", *(tag("script", c) + "\n" for c in codes)
            ),
            "</html>",
            "",
        )
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def tag(name: str, *content: str, **values: Attribute) -> str:
    """An element with an end tag, which HTML needs where XML does not."""
    return f"<{name}{attributes(values)}>{''.join(content)}</{name}>"


def code(text: str) -> str:
    return tag("code", escaped(text))


def items(texts: Iterable[str]) -> str:
    listed = [tag("li", code(text)) for text in texts]
    return tag("ul", *listed) if listed else ""


def badge(verdict: Verdict) -> str:
    return tag("span", verdict, class_=f"badge {verdict}")


def figure(caption: str, drawing: str) -> str:
    return tag(
        "figure",
        tag("figcaption", caption),
        "\n",
        tag("div", drawing, class_="canvas", tabindex=0),
    )
