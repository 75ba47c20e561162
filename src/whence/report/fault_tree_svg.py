"""The picture of a fault tree: see :mod:`whence.report.fault_tree_layout` for how it is laid out.

Without a script everything is in view. For the script (`assets/fault_tree.js`) each node is a
group that moves with its row, and tells what it is (`data-node`), which gates it is below
(`data-under`) and what to call it (`data-label`).
"""

from __future__ import annotations

from collections.abc import Iterable

from whence.model.fault_tree import (
    BasicEvent,
    FaultTree,
    Gate,
    GateKind,
    NonOccurrence,
    absence_text,
    conditions_below,
    detection,
    events_below,
    failure_class,
    nodes,
)
from whence.report import gate_symbols
from whence.report.fault_tree_layout import Layout, Placed, lay_out
from whence.report.gate_symbols import GATE_WIDTH, RADIUS
from whence.report.measure import LINE, elide, fit, text_width
from whence.report.svg import Attribute, Box, Canvas, element, number

__all__ = ["draw_fault_tree", "probability_text"]

_SIZE = 12.0
_SMALL = 10.5
_MARGIN = 14.0

#: The distance of two rows, and from the last row of a cause to the first of the next.
_ROW = 25.0
_CAUSE = 68.0
_BOX_WIDTH = 158.0
_TOP_WIDTH = 176.0
#: From one column of gates to the next, and where the line to the inputs runs in between.
_PITCH = 62.0
_BUS = 16.0
_GAP = 14.0
#: Longer names are cut; they are there in full when the mouse rests on them.
_LONGEST_NAME = 300.0
#: Of more causes, it is told how many they are.
_MANY = 6

_GATE_WORDS: dict[GateKind, str] = {
    "or": "any of these",
    "and": "all of these",
    "pand": "all of these, in this order",
    "inhibit": "this, on condition",
}
_LEGEND: dict[GateKind, str] = {
    "or": "any input",
    "and": "all inputs",
    "pand": "all inputs, from top to bottom",
    "inhibit": "input, on condition",
}


def draw_fault_tree(tree: FaultTree, standalone: bool = False) -> str:
    """The tree as an `<svg>`. `standalone`: with its style sheet, as a file of its own."""
    drawer = _Drawer(tree, lay_out(tree))
    canvas = drawer.draw()
    top = nodes(tree)[tree.top]
    assert isinstance(top, Gate)
    causes = len(top.inputs)
    label = f"Fault tree of {top.label or tree.name}: "
    label += "1 cause" if causes == 1 else f"{causes} causes"
    return canvas.document(
        canvas.view(_MARGIN),
        label,
        standalone=standalone,
        styles=("diagram.css", "fault_tree.css"),
        class_="whence fault-tree",
        data_row=number(_ROW),
        data_cause=number(_CAUSE),
        data_starts=" ".join(map(str, sorted(drawer.layout.starts))),
        data_margin=number(_MARGIN),
    )


def probability_text(value: float) -> str:
    """With four digits, and a short exponent: 9.914e-11."""
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def _failure_text(event: BasicEvent) -> str:
    if not event.failure:
        return ""
    return {True: "failure, detected", False: "failure, undetected", None: "failure"}[
        event.detected
    ]


def _chance_text(event: BasicEvent) -> str:
    if event.rate is not None:
        return f"rate {probability_text(event.rate)}"
    return "" if event.probability is None else f"p = {probability_text(event.probability)}"


class _Drawer:
    def __init__(self, tree: FaultTree, layout: Layout) -> None:
        self.tree = tree
        self.nodes = nodes(tree)
        self.layout = layout
        self.canvas = Canvas()
        self.row_at = self._rows()
        self.footnotes = list(dict.fromkeys(n for gate in tree.gates for n in gate.notes))
        # Where the symbols of gates have their middle, column by column.
        top = _TOP_WIDTH + _GAP + GATE_WIDTH / 2
        cause = top + GATE_WIDTH / 2 + 2 * _BUS + _BOX_WIDTH + _GAP + GATE_WIDTH / 2
        self.gate_at = [top, *(cause + n * _PITCH for n in range(layout.columns - 1))]
        self.box_left = top + GATE_WIDTH / 2 + 2 * _BUS
        self.leaf_at = self.gate_at[-1] + GATE_WIDTH / 2 + 2 * _BUS + RADIUS
        self.leaf_texts = self._leaf_texts()
        self.columns_at = self._text_columns()
        # Transfers speak of gates by numbers.
        again = dict.fromkeys(one.ident for one in layout.placed if one.kind == "transfer")
        self.gate_numbers = {ident: f"G{n}" for n, ident in enumerate(again, 1)}

    def _rows(self) -> list[float]:
        at = 0.0
        rows = []
        for row in range(self.layout.rows):
            if row:
                at += _CAUSE if row in self.layout.starts else _ROW
            rows.append(at)
        return rows

    # ------------------------------------------------------------------------- texts beside leaves

    def _leaf_texts(self) -> dict[tuple[int, str], tuple[str, str, str, str]]:
        """By row and ident: name, failure, chance, and where else the event is."""
        texts = {}
        for one in self.layout.placed:
            node = self.nodes[one.ident]
            if one.kind == "event":
                assert isinstance(node, BasicEvent)
                name = elide(node.name, _LONGEST_NAME, _SIZE, node.failure)
                texts[one.row, one.ident] = (
                    name,
                    _failure_text(node),
                    _chance_text(node),
                    "as above" if one.again else self._elsewhere(one.ident),
                )
        return texts

    def _elsewhere(self, ident: str) -> str:
        causes = self.layout.causes.get(ident, ())
        return f"in {len(causes)} causes" if len(causes) > 1 else ""

    def _text_columns(self) -> list[float]:
        """Where names, failures, chances and the rest begin: in columns, as in a table."""
        at = [self.leaf_at + RADIUS + 6]
        for column, size in enumerate((_SIZE, _SMALL, _SMALL)):
            widest = max(
                (
                    # Who fails has a bold name.
                    text_width(texts[column], size, bold=column == 0 and bool(texts[1]))
                    for texts in self.leaf_texts.values()
                ),
                default=0.0,
            )
            at.append(at[-1] + (widest + 14 if widest else 0))
        return at

    # ------------------------------------------------------------------------------------- drawing

    def draw(self) -> Canvas:
        for one in self.layout.placed:
            if one.kind == "gate":
                self._draw_bus(one)
        for one in self.layout.placed:
            self._draw_node(one)
        self._draw_legend()
        return self.canvas

    def _bus_at(self, column: int) -> float:
        return self.gate_at[column] + GATE_WIDTH / 2 + _BUS

    def _draw_bus(self, one: Placed) -> None:
        x = self._bus_at(one.column)
        start, end = self.row_at[one.row], self.row_at[one.last_row]
        self.canvas.reach(Box(x, start, x, end))
        self.canvas.parts.append(
            element(
                "line",
                x1=x,
                y1=start,
                x2=x,
                y2=end,
                class_="bus",
                data_from=one.row,
                data_to=one.last_row,
                data_under=" ".join((*one.under, one.ident)),
            )
        )

    def _draw_node(self, one: Placed) -> None:
        node = self.nodes[one.ident]
        inner = Canvas()
        classes: list[str] = [one.kind]
        if isinstance(node, BasicEvent) and node.failure:
            classes.append("failure")
        if one.column == 1:
            classes.append("cause")
        label = self._label(one)
        inner.title(label)
        if one.kind == "gate":
            assert isinstance(node, Gate)
            self._draw_gate(inner, one, node)
        else:
            self._draw_leaf(inner, one)
        assert inner.extent is not None
        y = self.row_at[one.row]
        box = inner.extent
        self.canvas.reach(Box(box.left, box.top + y, box.right, box.bottom + y))
        values: dict[str, Attribute] = {
            "class_": f"node {' '.join(classes)}",
            "transform": f"translate(0,{number(y)})",
            "data_node": one.ident,
            "data_row": one.row,
            "data_under": " ".join(one.under),
            "data_place": one.place,
            "data_label": label,
        }
        self.canvas.parts.append(element("g", *inner.parts, **values))

    def _stub(self, inner: Canvas, one: Placed, end: float) -> None:
        """From the line of the gate above to this node. Ordered inputs are numbered."""
        if not one.under:
            return
        above = self.nodes[one.under[-1]]
        assert isinstance(above, Gate)
        start = self._bus_at(one.column - 1)
        dashed = one.kind == "condition"
        inner.line(
            [(start, 0), (end, 0)], class_="wire", stroke_dasharray="4 3" if dashed else None
        )
        if above.kind == "pand":
            inner.text([str(one.place)], start + 4, -_SMALL * LINE, _SMALL, class_="faint")

    # --------------------------------------------------------------------------------------- gates

    def _draw_gate(self, inner: Canvas, one: Placed, gate: Gate) -> None:
        x = self.gate_at[one.column]
        left = x - GATE_WIDTH / 2
        if one.column < 2:
            width = _BOX_WIDTH if one.column else _TOP_WIDTH
            start = self.box_left if one.column else 0.0
            self._stub(inner, one, start)
            self._draw_box(inner, gate, one, start, width)
            inner.line([(start + width, 0), (left, 0)], class_="wire")
        else:
            self._stub(inner, one, left)
        inner.reach(Box.around(x, 0, GATE_WIDTH, gate_symbols.GATE_HEIGHT))
        inner.parts.append(
            element("g", gate_symbols.gate(gate.kind), transform=f"translate({number(x)},0)")
        )
        if one.ident in self.gate_numbers:
            text = self.gate_numbers[one.ident]
            inner.text([text], x, -_SMALL * 0.62, _SMALL, "middle", class_="name")
        right = x + GATE_WIDTH / 2
        # The back of an or is hollow.
        start = right - (3.5 if gate.kind == "or" else 0.0)
        inner.line([(start, 0), (self._bus_at(one.column), 0)], class_="wire opened")
        folded = "▸ " + ", ".join(
            (
                *(event.name for event in events_below(self.tree, one.ident)),
                *(absence_text(self.tree, no) for no in conditions_below(self.tree, one.ident)),
            )
        )
        room = self.columns_at[-1] + 80 - right - 8
        # Not reached for: it is there only while what would be in its place is not.
        held = inner.extent
        inner.text([elide(folded, room, _SIZE)], right + 8, -_SIZE * 0.65, _SIZE, class_="closed")
        inner.extent = held

    def _draw_box(self, inner: Canvas, gate: Gate, one: Placed, left: float, width: float) -> None:
        room = width - 16
        title = gate.label or gate.ident
        stars = "".join(self._star(note) for note in gate.notes)
        if one.column:
            lines: tuple[str, ...] = (
                elide(title, room - text_width(stars, _SIZE, True), _SIZE, True) + stars,
            )
        else:
            lines = fit(title + stars, room, _SIZE, lines=5, bold=True)
        small = list(self._facts(gate, one))
        height = (len(lines) * _SIZE + len(small) * _SMALL) * LINE + 10
        box = Box.around(left + width / 2, 0, width, height)
        inner.rect(box, class_="box", rx=4)
        inner.text(lines, left + 8, box.top + 4, _SIZE, bold=True)
        below = box.top + 4 + len(lines) * _SIZE * LINE
        for row, (text, class_) in enumerate(small):
            inner.text([text], left + 8, below + row * _SMALL * LINE, _SMALL, class_=class_)

    def _facts(self, gate: Gate, one: Placed) -> Iterable[tuple[str, str]]:
        if one.column:
            text = self._class_text(one.ident)
            if text:
                yield text, "failing" if "undetected" in text else "plain"
        if gate.probability is not None:
            yield f"p = {probability_text(gate.probability)}", "faint"

    def _class_text(self, ident: str) -> str:
        """As ISO 26262 calls a cause."""
        events = events_below(self.tree, ident)
        points = failure_class(events)
        if points == "none":
            # Where nothing fails anywhere, nobody asks.
            return "no failure" if any(event.failure for event in self.tree.events) else ""
        noticed = detection(events)
        return points if noticed == "unknown" else f"{points}, {noticed}"

    def _star(self, note: str) -> str:
        return "*" if len(self.footnotes) == 1 else f"*{self.footnotes.index(note) + 1}"

    # -------------------------------------------------------------------------------------- leaves

    def _draw_leaf(self, inner: Canvas, one: Placed) -> None:
        node = self.nodes[one.ident]
        self._stub(inner, one, self.leaf_at - RADIUS)
        at = f"translate({number(self.leaf_at)},0)"
        inner.reach(Box.around(self.leaf_at, 0, 2 * RADIUS + 2, 2 * RADIUS))
        left = self.columns_at[0]
        if isinstance(node, BasicEvent):
            drawn = gate_symbols.circle(node.failure, one.again)
            inner.parts.append(element("g", drawn, transform=at, class_="mark"))
            name, failure, chance, rest = self.leaf_texts[one.row, one.ident]
            inner.text([name], left, -_SIZE * 0.65, _SIZE, bold=node.failure, class_="name")
            texts = ((failure, "failing"), (chance, "faint"), (rest, "faint"))
            for x, (text, class_) in zip(self.columns_at[1:], texts, strict=True):
                if text:
                    inner.text([text], x, -_SMALL * 0.65, _SMALL, class_=class_)
        elif isinstance(node, NonOccurrence):
            inner.parts.append(element("g", gate_symbols.condition(), transform=at))
            text = elide(absence_text(self.tree, node), 2 * _LONGEST_NAME, _SIZE)
            inner.text([text], left, -_SIZE * 0.65, _SIZE, class_="name")
        else:
            inner.parts.append(element("g", gate_symbols.transfer(), transform=at))
            text = f"the same as {self.gate_numbers[one.ident]} above"
            inner.text([text], left, -_SIZE * 0.65, _SIZE, class_="name")

    # --------------------------------------------------------------------------------------- words

    def _label(self, one: Placed) -> str:
        """What the node is, in words: also for who cannot see it."""
        node = self.nodes[one.ident]
        if isinstance(node, NonOccurrence):
            return f"{absence_text(self.tree, node)}, condition"
        if isinstance(node, BasicEvent):
            words = [node.name, _failure_text(node) or "event", _chance_text(node)]
            if node.component:
                words.append(f"of {node.component}")
            causes = self.layout.causes.get(one.ident, ())
            if len(causes) > _MANY:
                words.append(f"in {len(causes)} causes")
            elif len(causes) > 1:
                words.append(f"in {', '.join(map(self._cause_name, causes))}")
            if one.again:
                words.append("as above")
            return self._placed_words(one) + ", ".join(word for word in words if word)
        words = [node.label, _GATE_WORDS[node.kind]]
        if one.kind == "transfer":
            words = [node.label, f"the same as {self.gate_numbers[one.ident]} above"]
        elif one.column == 1:
            words.insert(1, self._class_text(one.ident))
        if node.probability is not None:
            words.append(f"probability {probability_text(node.probability)}")
        return self._placed_words(one) + ", ".join(word for word in (*words, *node.notes) if word)

    def _cause_name(self, ident: str) -> str:
        node = self.nodes[ident]
        return (node.label if isinstance(node, Gate) else "") or ident

    def _placed_words(self, one: Placed) -> str:
        above = self.nodes[one.under[-1]] if one.under else None
        ordered = isinstance(above, Gate) and above.kind == "pand"
        return f"{one.place}. " if ordered else ""

    # -------------------------------------------------------------------------------------- legend

    def _draw_legend(self) -> None:
        """Above the tree, where it stays when the tree is folded."""
        drawn = {one.ident for one in self.layout.placed if one.kind == "gate"}
        kinds = {gate.kind for gate in self.tree.gates if gate.ident in drawn}
        entries = [
            (gate_symbols.gate(kind), GATE_WIDTH, text)
            for kind, text in _LEGEND.items()
            if kind in kinds
        ]
        entries.append((gate_symbols.circle(False, False), 2 * RADIUS, "event"))
        if any(event.failure for event in self.tree.events):
            symbol = element("g", gate_symbols.circle(True, False), class_="failure mark")
            entries.append((symbol, 2 * RADIUS, "failure"))
        if any(one.kind == "condition" for one in self.layout.placed):
            entries.append((gate_symbols.condition(), 2 * RADIUS + 2, "does not happen"))
        if self.gate_numbers:
            entries.append((gate_symbols.transfer(), 2 * RADIUS, "drawn elsewhere"))
        assert self.canvas.extent is not None
        notes = [*self.tree.notes, *(f"{self._star(note)} {note}" for note in self.footnotes)]
        right = max(self.canvas.extent.right, 640.0)
        lines = [line for note in notes for line in fit(note, right, _SMALL, lines=3)]
        top = self.canvas.extent.top - 40 - len(lines) * _SMALL * LINE
        self.canvas.open("g", class_="legend")
        x = 0.0
        for symbol, width, text in entries:
            self.canvas.parts.append(
                element("g", symbol, transform=f"translate({number(x + width / 2)},{number(top)})")
            )
            self.canvas.reach(Box.around(x + width / 2, top, width, 24))
            box = self.canvas.text(
                [text], x + width + 6, top - _SMALL * 0.65, _SMALL, class_="faint"
            )
            x = box.right + 20
        if lines:
            self.canvas.text(lines, 0, top + 20, _SMALL, class_="faint")
        self.canvas.close("g")
