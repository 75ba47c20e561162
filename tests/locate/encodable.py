"""Random programs of what can be encoded, with inputs, and what they come to."""

from __future__ import annotations

import re

from tests.locate.generate import Generator, Scope


class Encodable(Generator):
    """Without floating point and unions."""

    def expression(self, scope: Scope, depth: int = 2) -> str:
        while True:
            text = super().expression(scope, min(depth, 2))
            if "0.5" not in text:
                return text

    def member(self, scope: Scope, name: str, dot: str = ".") -> tuple[str, str]:
        while True:
            text, type = super().member(scope, name, dot)
            if not re.search(r"\bu\.[wy]", text):
                return text, type

    def text(self) -> str:
        text = super().text()
        text = text.replace(" union { unsigned w; unsigned char y[4]; } u;", "")
        text = text.replace("{ 7, 8 }, { 9 } };", "{ 7, 8 } };")
        text = re.sub(r", \w+\.u\.w\)", ")", text)
        return text.replace("%d %d %u\\n", "%d %d\\n").replace("round < 3", "round < 1")


def encodable(seed: int) -> tuple[str, list[str]]:
    """A program, and globals that can be its inputs."""
    generator = Encodable(seed)
    text = generator.text()
    names = re.findall(r"^(?:static )?[a-z ]+ (g\d+) = ", text, re.MULTILINE)
    return text, names
