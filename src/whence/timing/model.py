"""A model as the analyses need it: its text, its network, and a checker of that."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from whence.explore.check import Checker
from whence.formats.uppaal.document import Document
from whence.formats.uppaal.elaborate import Elaborated, elaborate
from whence.formats.uppaal.elaborate_queries import check_query, queries
from whence.model.network import Network, Query
from whence.source import InputError, SourceText
from whence.timing.elements import Elements

__all__ = ["TimedModel"]


class TimedModel:
    """Everything about one document; what costs time is worked out when it is asked for."""

    def __init__(self, document: Document, elaborated: Elaborated | None = None) -> None:
        self.document = document
        self._elaborated = elaborated or elaborate(document)

    def with_network(self, network: Network) -> TimedModel:
        """A model of the same text that means something else than it says."""
        return TimedModel(self.document, replace(self._elaborated, network=network))

    @property
    def network(self) -> Network:
        return self._elaborated.network

    @cached_property
    def checker(self) -> Checker:
        return Checker(self.network)

    @cached_property
    def elements(self) -> Elements:
        return Elements(self.document, self.checker.compiled)

    @cached_property
    def queries(self) -> tuple[Query | InputError, ...]:
        """Those of the document, in its order, each with what it means or what is wrong."""
        return tuple(query for _, query in queries(self._elaborated))

    def query(self, text: str) -> Query:
        return check_query(self._elaborated, SourceText(text, "query"))
