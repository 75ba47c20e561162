"""Expressions, and the types that stand inside them (`forall (i : int[0, 3]) …`).

Precedence is that of UPPAAL 4.1 and 5 (utap's grammar and the help agree): `not`, `and` and `or`
are other spellings of `!`, `&&` and `||`, and `imply` shares its level with `||`, both grouping
to the left.  UPPAAL 3.6 and 4.0 let the words bind looser; we do not follow these.
"""

from __future__ import annotations

from whence.expr.lexer import FLOAT, INT, KEYWORDS, NAME, RANDOM_FUNCTIONS, STRING, words
from whence.expr.parse_core import MAX_DEPTH, Reader
from whence.expr.tree import (
    Assignment,
    Binary,
    BoolLiteral,
    Call,
    Conditional,
    Deadlock,
    Declarator,
    Expr,
    Field,
    Index,
    IntLiteral,
    Name,
    NamedType,
    Quantifier,
    RangeType,
    ScalarSyntax,
    Step,
    StructSyntax,
    TypeSyntax,
    Unary,
)
from whence.source import SourceText

__all__ = ["ASSIGN", "BINARY", "CONDITIONAL", "POSTFIX", "UNARY", "ExpressionReader"]

#: How tightly operators bind; what stands between operators of the same level groups to the left,
#: except for assignments and `?:`.
ASSIGN, CONDITIONAL = 1, 2
BINARY = {
    operator: level
    for level, operators in enumerate(
        (
            ("||", "imply"),
            ("&&",),
            ("|",),
            ("^",),
            ("&",),
            ("==", "!="),
            ("<", "<=", ">=", ">"),
            ("<?", ">?"),
            ("<<", ">>"),
            ("+", "-"),
            ("*", "/", "%"),
        ),
        start=CONDITIONAL + 1,
    )
    for operator in operators
}
UNARY = max(BINARY.values()) + 2
POSTFIX = UNARY + 1

_SPELLINGS = {"and": "&&", "or": "||", "not": "!", ":=": "="}
_ASSIGNMENTS = words("= := += -= *= /= %= &= |= ^= <<= >>=")
#: Operators of other UPPAALs: (level, name).
_FOREIGN = {
    "xor": (BINARY["||"], "the operator `xor`", "on truth values, `!=` says the same"),
    "**": (UNARY - 1, "floating-point numbers (the power operator `**`)", ""),
}
_INFIX = (
    BINARY
    | {word: BINARY[_SPELLINGS[word]] for word in ("and", "or")}
    | dict.fromkeys(_ASSIGNMENTS, ASSIGN)
    | {operator: level for operator, (level, _, _) in _FOREIGN.items()}
    | {"?": CONDITIONAL}
)
_PREFIX = frozenset(("-", "+", "!", "not", "++", "--"))
_QUANTIFIERS = frozenset(("forall", "exists", "sum"))
_PREFIXES = ("const", "urgent", "broadcast", "meta")
_BASIC = frozenset(("int", "bool", "clock", "chan", "void"))
_MAX_INT = 2**31 - 1


class ExpressionReader(Reader):
    """A reader that understands expressions and types."""

    def __init__(
        self,
        source: SourceText,
        reserved: frozenset[str] = KEYWORDS,
        *,
        condition: bool = False,
    ) -> None:
        super().__init__(source, reserved)
        #: Whether the text is a condition: an assignment is then a misspelt comparison.
        self.condition = condition
        # The height of the tree that was read last. Chains like `a + b + …` are read without
        # recursion, but make trees that others recurse into.
        self._height = 0

    # -------------------------------------------------------------------------- expressions

    def expression(self, minimum: int = 0) -> Expr:
        """An expression whose operators outside of parentheses bind at least that tightly."""
        self.enter()
        texts = self.texts
        first = self.at
        left = self._operand()
        height = self._height
        while True:
            operator = texts[self.at]
            level = _INFIX.get(operator)
            if level is None or level < minimum:
                break
            at = self.at
            self.at += 1
            if level == ASSIGN:
                if operator in ("=", ":=") and self.condition:
                    self._no_assignment(at)
                value = self.expression(ASSIGN)
                left = Assignment(
                    _SPELLINGS.get(operator, operator), left, value, origin=self.origin(first)
                )
            elif level == CONDITIONAL:
                then = self.expression()
                height = max(height, self._height)
                if texts[self.at] != ":":
                    self.expected("`:` and the second value of `?:`")
                self.at += 1
                otherwise = self.expression(ASSIGN)
                left = Conditional(left, then, otherwise, origin=self.origin(first))
            else:
                right = self.expression(level + 1)
                if operator in _FOREIGN:
                    _, construct, hint = _FOREIGN[operator]
                    self.refuse(construct, at, hint)
                    operator = "||"
                left = Binary(
                    _SPELLINGS.get(operator, operator), left, right, origin=self.origin(first)
                )
            height = max(height, self._height) + 1
            if height > MAX_DEPTH:
                self.too_deep()
        self._height = height
        self.depth -= 1
        return left

    def _no_assignment(self, at: int) -> None:
        self.problem(
            f"`{self.texts[at]}` assigns, but this is a condition",
            self.origin(at, at),
            "write `==` to compare",
            order=self.starts[at],
        )

    def _operand(self) -> Expr:
        """Prefix operators, what they apply to, and what is written behind that."""
        prefixes = []
        while self.texts[self.at] in _PREFIX:
            prefixes.append(self.at)
            self.at += 1
        if self.texts[self.at] in _QUANTIFIERS:
            result = self._quantifier()
        else:
            at = self.at
            result = self._postfix(self._primary(prefixes), at)
        height = self._height
        for at in reversed(prefixes):
            operator = self.texts[at]
            origin = self.origin(at)
            if operator in ("++", "--"):
                result = Step(operator, True, result, origin=origin)
            else:
                result = Unary(_SPELLINGS.get(operator, operator), result, origin=origin)
            height += 1
        if height > MAX_DEPTH:
            self.too_deep()
        self._height = height
        return result

    def _primary(self, prefixes: list[int]) -> Expr:
        at = self.at
        text, kind = self.texts[at], self.kinds[at]
        result: Expr
        self._height = 1
        if kind == NAME:
            self.at += 1
            if text not in self.reserved:
                result = Name(text, origin=self.origin(at))
                following = self.texts[self.at]
                if following == "(":
                    self._refuse_call(text, at)
                elif text == "spawn" and self.kinds[self.at] == NAME and not self._infix():
                    self.refuse("dynamic templates (`spawn`)", at)
                    self.at += 1
            elif text == "true" or text == "false":
                result = BoolLiteral(text == "true", origin=self.origin(at))
            elif text == "deadlock":
                result = Deadlock(origin=self.origin(at))
            else:
                self.at = at
                self.expected("an expression")
        elif kind == INT:
            self.at += 1
            result = IntLiteral(self._integer(at, prefixes), origin=self.origin(at))
        elif text == "(":
            self.at += 1
            result = self.expression()
            self.close(at)
        elif kind == FLOAT:
            self.at += 1
            self.refuse("floating-point numbers", at)
            result = IntLiteral(0, origin=self.origin(at))
        elif kind == STRING:
            self.at += 1
            self.refuse("strings", at)
            result = IntLiteral(0, origin=self.origin(at))
        else:
            self.expected("an expression")
        return result

    def _infix(self) -> bool:
        return self.texts[self.at] in _INFIX

    def _refuse_call(self, callee: str, at: int) -> None:
        if callee in RANDOM_FUNCTIONS:
            self.refuse(f"random numbers (`{callee}`)", at)
        elif callee == "exit" and self.texts[self.at + 1] == ")":
            self.refuse("dynamic templates (`exit`)", at)
        elif callee == "numOf":
            self.refuse("dynamic templates (`numOf`)", at)
        elif callee == "typeof":
            self.refuse("`typeof`", at)

    def _integer(self, at: int, prefixes: list[int]) -> int:
        digits = self.texts[at]
        if not digits.isdecimal():
            return 0  # The lexer has reported it.
        value = int(digits) if len(digits) < 400 else _MAX_INT + 2
        negated = bool(prefixes) and prefixes[-1] == at - 1 and self.texts[at - 1] == "-"
        if value > _MAX_INT + negated:
            self.problem(
                f"{digits if len(digits) < 30 else 'this number'} does not fit into 32 bits",
                self.origin(at, at),
                f"the largest number is {_MAX_INT}",
                order=self.starts[at],
            )
            return 0
        return value

    def _postfix(self, result: Expr, first: int) -> Expr:
        texts = self.texts
        height = self._height
        while True:
            at = self.at
            text = texts[at]
            if text == "[":
                self.at += 1
                index = self.expression()
                self.close(at)
                result = Index(result, index, origin=self.origin(first))
                height = max(height, self._height)
            elif text == ".":
                self.at += 1
                if self.kinds[self.at] != NAME:
                    self.expected("a name after `.`")
                name = texts[self.at]
                self.at += 1
                result = Field(result, name, origin=self.origin(first))
            elif text == "(":
                self.at += 1
                # Not by `expressions`: the fewer calls a level takes, the deeper we can go.
                arguments: list[Expr] = []
                while texts[self.at] != ")" or arguments:
                    arguments.append(self.expression())
                    height = max(height, self._height)
                    if not self.accept(","):
                        break
                self.close(at)
                if isinstance(result, Name):
                    result = Call(result.name, tuple(arguments), origin=self.origin(first))
                elif isinstance(result, Field):
                    self.refuse("calls of functions that belong to a process", first, last=at - 1)
                else:
                    self.wrong("only functions can be called", index=at)
            elif text == "++" or text == "--":
                self.at += 1
                result = Step(text, False, result, origin=self.origin(first))
            elif text == "'":
                self.at += 1
                self.refuse("clock rates (stop-watches and hybrid clocks: `x'`)", first, last=at)
            else:
                self._height = height
                return result
            height += 1
            if height > MAX_DEPTH:
                self.too_deep()

    def expressions(self) -> tuple[Expr, ...]:
        """One or more, separated by commas."""
        result = [self.expression()]
        height = self._height
        while self.accept(","):
            result.append(self.expression())
            height = max(height, self._height)
        self._height = height
        return tuple(result)

    def _quantifier(self) -> Expr:
        first = self.at
        self.at += 1
        opening = self.at
        kind = self.texts[first]
        if self.texts[self.at] != "(":
            self.expected(f"`(` after `{kind}`", hint=f"write `{kind} (i : int[0, 3]) …`")
        self.at += 1
        variable = self.name("the name of a variable")
        if self.texts[self.at] != ":":
            self.expected("`:` and a type", hint=f"write `{kind} ({variable} : type) …`")
        self.at += 1
        domain = self.type()
        self.close(opening)
        body = self.expression()
        self._height += 1
        return Quantifier(kind, variable, domain, body, origin=self.origin(first))

    # -------------------------------------------------------------------------------- types

    def type(self) -> TypeSyntax:
        self.enter()
        result = self._read_type()
        self.depth -= 1
        return result

    def _read_type(self) -> TypeSyntax:
        first = self.at
        prefixes: list[str] = []
        while self.texts[self.at] in _PREFIXES:
            prefixes.append(self.texts[self.at])
            self.at += 1
        if self.texts[self.at] == "hybrid" and self.texts[self.at + 1] == "clock":
            self.refuse("hybrid clocks", self.at, last=self.at + 1)
            self.at += 1
        at = self.at
        text = self.texts[at]
        if self.kinds[at] != NAME:
            self.expected("a type")
        given = tuple(prefixes)
        if text == "struct":
            return self._struct(first, given)
        if text == "scalar":
            self.at += 1
            opening = self.at
            self.expect("[", " and the size of the scalar set")
            size = self.expression()
            self.close(opening)
            return ScalarSyntax(size, given, origin=self.origin(first))
        if text == "int":
            self.at += 1
            if self.texts[self.at] == "[":
                return self._range(first, given)
            return NamedType("int", given, origin=self.origin(first))
        if text in _BASIC:
            self.at += 1
            return NamedType(text, given, origin=self.origin(first))
        if text in ("double", "string") and self.kinds[at + 1] in (NAME, "op"):
            kind = "floating-point numbers" if text == "double" else "strings"
            self.refuse(f"{kind} (`{text}`)", at)
        self.name("a type")
        return NamedType(text, given, origin=self.origin(first))

    def _range(self, first: int, prefixes: tuple[str, ...]) -> TypeSyntax:
        opening = self.at
        self.at += 1
        lo = self.expression()
        if self.texts[self.at] == "]":
            self.expected(
                "`,` and an upper bound", hint="an array's size is written behind its name"
            )
        self.expect(",", " and an upper bound")
        hi = self.expression()
        self.close(opening)
        return RangeType(lo, hi, prefixes, origin=self.origin(first))

    def _struct(self, first: int, prefixes: tuple[str, ...]) -> TypeSyntax:
        self.at += 1
        opening = self.at
        self.expect("{", " and the fields of the struct")
        fields: list[Declarator] = []
        while self.texts[self.at] != "}":
            if not self.texts[self.at]:
                self.close(opening)
            type_ = self.type()
            while True:
                at = self.at
                name = self.name("the name of a field")
                dimensions = self.dimensions()
                fields.append(Declarator(type_, name, dimensions, origin=self.origin(at)))
                if not self.accept(","):
                    break
            self.semicolon(f"the field `{fields[-1].name}`")
        self.at += 1
        return StructSyntax(tuple(fields), prefixes, origin=self.origin(first))

    def dimensions(self) -> tuple[Expr | TypeSyntax, ...]:
        """`[3][int[0, 2]][id_t]`. A single name may be a constant or a type; who resolves names
        finds out: it is read as an expression."""
        result: list[Expr | TypeSyntax] = []
        while self.texts[self.at] == "[":
            opening = self.at
            self.at += 1
            if self.texts[self.at] == "]":
                self.expected("the size of the array")
            result.append(self.type() if self.at_type() else self.expression())
            self.close(opening)
        return tuple(result)

    def at_type(self) -> bool:
        """Whether what follows can only be a type."""
        text = self.texts[self.at]
        return text in _BASIC or text in _PREFIXES or text in ("scalar", "struct")
