"""Declarations, functions and statements."""

from __future__ import annotations

from whence.expr.lexer import END, INT, NAME, STRING
from whence.expr.parse_core import Stop
from whence.expr.parse_expressions import ExpressionReader
from whence.expr.tree import (
    Block,
    ChannelPriorities,
    DeclarationSyntax,
    Declarator,
    DoWhile,
    Evaluate,
    Expr,
    For,
    ForEach,
    FunctionSyntax,
    If,
    Index,
    Initialiser,
    Name,
    NamedType,
    ParameterSyntax,
    Return,
    SelectSyntax,
    Statement,
    Typedef,
    TypeSyntax,
    While,
)

__all__ = ["DeclarationReader"]

#: Operators that are written as words: after a name, they do not make it a type.
_WORD_OPERATORS = frozenset(("and", "or", "xor", "imply"))


class DeclarationReader(ExpressionReader):
    """A reader that understands all of UPPAAL's C."""

    # ------------------------------------------------------------------------- declarations

    def declaration(self) -> list[DeclarationSyntax]:
        """What is declared up to the next `;` or `}`: nothing, if it is refused."""
        first = self.at
        text = self.texts[first]
        following = self.texts[first + 1]
        if text == ";":
            # UPPAAL rejects these, but they harm nobody: `};` after a function is common.
            self.at += 1
            return []
        if text == "typedef":
            return self._typedef()
        if text == "chan" and following == "priority":
            return [self._priorities()]
        if text == "import":
            self._import()
            return []
        if text in ("before_update", "after_update"):
            self.refuse(f"`{text}`", first)
            self.at += 1
            self.skip_braces()
            return []
        if text == "dynamic" and self.kinds[first + 1] == NAME:
            self.refuse("dynamic templates (`dynamic`)", first)
            self.at += 1
            self.skip(self.at)
            return []
        if text == "process":
            self.wrong("a process cannot be declared here")
        if text == "system":
            self.wrong("the line `system …` belongs into the system declaration")
        if text == "const" and self._old_constant():
            return self._old_constants()
        if following in ("=", ":=", "(") and self.kinds[first] == NAME:
            self._not_a_declaration(following)
        type_ = self.type()
        at = self.at
        if self.texts[at + 1] == "(":
            return [self._function(type_, first)]
        return list(self._declarators(type_))

    def _not_a_declaration(self, following: str) -> None:
        text = self.texts[self.at]
        if text in self.reserved:
            return
        if following == "(":
            hint = "a function is declared with its result type; instances belong into the system"
        else:
            hint = "a variable is declared with its type; instances belong into the system"
        self.wrong(f"expected a declaration, found `{text} {following}`", hint)

    def _typedef(self) -> list[DeclarationSyntax]:
        self.at += 1
        type_ = self.type()
        result: list[DeclarationSyntax] = []
        while True:
            at = self.at
            name = self.name("the name of the type")
            dimensions = self.dimensions()
            result.append(Typedef(type_, name, dimensions, origin=self.origin(at)))
            if not self.accept(","):
                break
        self.semicolon(f"the type `{name}`")
        return result

    def _declarators(self, type_: TypeSyntax) -> list[Declarator]:
        result = []
        while True:
            at = self.at
            name = self.name("the name of what is declared")
            dimensions = self.dimensions()
            initial = None
            if self.texts[self.at] in ("=", ":="):
                self.at += 1
                initial = self._initial()
            elif self.texts[self.at] == "==":
                self.expected("`=` or `;`", hint="write `=` to initialise")
            result.append(Declarator(type_, name, dimensions, initial, origin=self.origin(at)))
            if not self.accept(","):
                break
        self.semicolon(f"the declaration of `{name}`")
        return result

    def _initial(self) -> Expr | Initialiser:
        if self.texts[self.at] == "{":
            return self._initialiser()
        return self.expression()

    def _initialiser(self) -> Initialiser:
        self.enter()
        opening = self.at
        self.at += 1
        items: list[tuple[str | None, Expr | Initialiser]] = []
        while self.texts[self.at] != "}" or items:
            name = None
            if self.kinds[self.at] == NAME and self.texts[self.at + 1] == ":":
                name = self.name("the name of a field")
                self.at += 1
            items.append((name, self._initial()))
            if not self.accept(","):
                break
        self.close(opening)
        self.depth -= 1
        return Initialiser(tuple(items), origin=self.origin(opening))

    def _old_constant(self) -> bool:
        """Whether this is `const N 5` or `const a[2] {1, 2}` of UPPAAL 3.4."""
        name, then = self.at + 1, self.at + 2
        if self.kinds[name] != NAME or self.texts[name] in self.reserved:
            return False
        return self.kinds[then] == INT or self.texts[then] in ("-", "{", "(", "[")

    def _old_constants(self) -> list[DeclarationSyntax]:
        type_ = NamedType("int", ("const",), origin=self.origin(self.at, self.at))
        self.at += 1
        result: list[DeclarationSyntax] = []
        while True:
            at = self.at
            name = self.name("the name of a constant")
            dimensions = self.dimensions()
            initial = self._initial()
            result.append(Declarator(type_, name, dimensions, initial, origin=self.origin(at)))
            if not self.accept(","):
                break
        self.semicolon(f"the declaration of `{name}`")
        return result

    def _priorities(self) -> ChannelPriorities:
        first = self.at
        self.at += 2
        groups: list[list[Expr | None]] = [[]]
        while True:
            if self.accept("default"):
                groups[-1].append(None)
            else:
                groups[-1].append(self._channel())
            if self.accept("<"):
                groups.append([])
            elif not self.accept(","):
                break
        # The semicolon is no part of a declaration, as elsewhere.
        result = ChannelPriorities(
            tuple(tuple(group) for group in groups), origin=self.origin(first)
        )
        self.semicolon("the channel priorities")
        return result

    def _channel(self) -> Expr:
        """Not just any expression: `<` separates channels here."""
        first = self.at
        result: Expr = Name(self.name("a channel or `default`"), origin=self.origin(first, first))
        while self.texts[self.at] == "[":
            opening = self.at
            self.at += 1
            index = self.expression()
            self.close(opening)
            result = Index(result, index, origin=self.origin(first))
        return result

    def _import(self) -> None:
        self.refuse("external functions (`import`)", self.at)
        self.at += 1
        if self.kinds[self.at] != STRING:
            self.expected("the name of a library")
        self.at += 1
        if self.texts[self.at] == "{":
            self.skip_braces()
            self.accept(";")
        else:
            self.skip(self.at)

    # ----------------------------------------------------------------- parameters and selects

    def parameters(self) -> tuple[ParameterSyntax, ...]:
        """Up to the `)` or the end. Those of UPPAAL 3.4 are separated by `;`."""
        if self.texts[self.at] in (")", ""):
            return ()
        if self._old_parameters():
            return tuple(self._read_old_parameters())
        result = []
        while True:
            first = self.at
            type_ = self.type()
            reference = self.accept("&")
            if self.texts[self.at] in (",", ")", ""):
                self.expected("the name of the parameter")
            name = self.name("the name of the parameter")
            dimensions = self.dimensions()
            origin = self.origin(first)
            result.append(ParameterSyntax(type_, name, reference, dimensions, origin=origin))
            if not self.accept(","):
                return tuple(result)

    def _old_parameters(self) -> bool:
        level = 0
        for index in range(self.at, len(self.texts)):
            text = self.texts[index]
            if text in ("(", "[", "{"):
                level += 1
            elif text in (")", "]", "}"):
                level -= 1
                if level < 0:
                    return False
            elif level == 0 and (text == ";" or (text == "const" and self._unnamed(index))):
                return True
        return False

    def _unnamed(self, index: int) -> bool:
        """Whether the `const` there is followed by a name only, without a type."""
        return self.texts[index + 1] != "" and self.texts[index + 2] in (",", ";", ")", "")

    def _read_old_parameters(self) -> list[ParameterSyntax]:
        """`const N, M; int x, y; clock c`: constants are passed by value, the rest by
        reference."""
        result: list[ParameterSyntax] = []
        while True:
            first = self.at
            constant = self.texts[first] == "const" and self._unnamed(first)
            type_: TypeSyntax
            if constant:
                self.at += 1
                type_ = NamedType("int", ("const",), origin=self.origin(first))
            else:
                type_ = self.type()
            while True:
                at = self.at
                name = self.name("the name of the parameter")
                dimensions = self.dimensions()
                origin = self.origin(at)
                result.append(ParameterSyntax(type_, name, not constant, dimensions, origin=origin))
                if not self.accept(","):
                    break
            if not self.accept(";"):
                return result

    def selects(self) -> tuple[SelectSyntax, ...]:
        result = []
        while True:
            first = self.at
            name = self.name("the name of a select variable")
            if self.texts[self.at] != ":":
                self.expected("`:` and a type", hint=f"write `{name} : int[0, 3]`")
            self.at += 1
            domain = self.type()
            result.append(SelectSyntax(name, domain, origin=self.origin(first)))
            if not self.accept(","):
                return tuple(result)

    # --------------------------------------------------------------- functions and statements

    def _function(self, result: TypeSyntax, first: int) -> FunctionSyntax:
        name = self.name("the name of the function")
        opening = self.at
        self.at += 1
        parameters = self.parameters()
        self.close(opening)
        if self.texts[self.at] != "{":
            self.expected(f"`{{` and the body of `{name}`")
        body = self._block()
        return FunctionSyntax(result, name, parameters, body, origin=self.origin(first))

    def _block(self) -> Block:
        opening = self.at
        self.at += 1
        declarations: list[DeclarationSyntax] = []
        statements: list[Statement] = []
        while self.texts[self.at] != "}":
            first, depth = self.at, self.depth
            if self.kinds[first] == END:
                self.wrong("this `{` is never closed", index=opening)
            try:
                if self._at_declaration():
                    if statements:
                        self.problem(
                            "declarations come before all statements of their block",
                            self.origin(first, first),
                            order=self.starts[first],
                        )
                    declared = self.declaration()
                    if any(
                        isinstance(item, FunctionSyntax | ChannelPriorities) for item in declared
                    ):
                        self.problem(
                            "a block declares only types and variables",
                            self.origin(first),
                            "declare this outside of the function",
                            order=self.starts[first],
                        )
                    declarations.extend(declared)
                else:
                    statements.append(self._statement())
            except Stop:
                self.depth = depth
                self.skip(first, in_block=True)
        self.at += 1
        return Block(tuple(declarations), tuple(statements), origin=self.origin(opening))

    def _at_declaration(self) -> bool:
        text, index = self.texts[self.at], self.at
        if self.at_type() or text == "typedef":
            return True
        if self.kinds[index] != NAME or text in self.reserved:
            return False
        following = self.texts[index + 1]
        if text in ("spawn", "break", "continue", "switch"):
            return False
        return self.kinds[index + 1] == NAME and following not in _WORD_OPERATORS

    def _statement(self) -> Statement:
        self.enter()
        result = self._read_statement()
        self.depth -= 1
        return result

    def _read_statement(self) -> Statement:
        first = self.at
        text = self.texts[first]
        match text:
            case "{":
                return self._block()
            case ";":
                self.at += 1
                return Evaluate(None, origin=self.origin(first))
            case "if":
                self.at += 1
                condition = self._condition("if")
                then = self._statement()
                otherwise = self._statement() if self.accept("else") else None
                return If(condition, then, otherwise, origin=self.origin(first))
            case "else":
                self.wrong("this `else` belongs to no `if`")
            case "while":
                self.at += 1
                condition = self._condition("while")
                return While(condition, self._statement(), origin=self.origin(first))
            case "do":
                self.at += 1
                body = self._statement()
                self.expect("while", " after the body of `do`")
                condition = self._condition("while")
                self.semicolon("`do … while`")
                return DoWhile(body, condition, origin=self.origin(first))
            case "for":
                return self._for()
            case "return":
                self.at += 1
                value = None if self.texts[self.at] == ";" else self.expression()
                self.semicolon("`return`")
                return Return(value, origin=self.origin(first))
            case "assert":
                self.refuse("`assert`", first, "state a query instead")
                self.at += 1
            case "break" | "continue" if self.texts[first + 1] == ";":
                self.refuse(f"`{text}`", first, "UPPAAL has no such statement")
            case "switch" if self.texts[first + 1] == "(":
                self.refuse("`switch`", first, "UPPAAL has no such statement")
                self.at += 1
                self._condition("switch")
                self.skip_braces()
                return Evaluate(None)
        expr = self.expression()
        if self.texts[self.at] == ",":
            self.wrong("expected `;`, found `,`", "statements end with `;`")
        self.semicolon("this statement")
        return Evaluate(expr, origin=self.origin(first))

    def _condition(self, keyword: str) -> Expr:
        opening = self.at
        self.expect("(", f" after `{keyword}`")
        result = self.expression()
        if self.texts[self.at] == ",":
            self.refuse("several expressions in one condition", self.at, "write `&&`")
            while self.accept(","):
                result = self.expression()
        self.close(opening)
        return result

    def _for(self) -> Statement:
        first = self.at
        self.at += 1
        opening = self.at
        self.expect("(", " after `for`")
        if self.kinds[self.at] == NAME and self.texts[self.at + 1] == ":":
            variable = self.name("the name of a variable")
            self.at += 1
            domain = self.type()
            self.close(opening)
            return ForEach(variable, domain, self._statement(), origin=self.origin(first))
        if self._at_declaration():
            self.problem(
                "a `for` declares no variable",
                self.origin(self.at, self.at),
                "declare it at the start of the block, or write `for (i : int[0, 3])`",
                order=self.starts[self.at],
            )
            self.type()
        start = () if self.texts[self.at] == ";" else self.expressions()
        self.expect(";", " in `for (…; …; …)`")
        condition = None if self.texts[self.at] == ";" else self.expression()
        if self.texts[self.at] == ",":
            self.refuse("several expressions in one condition", self.at, "write `&&`")
            while self.accept(","):
                self.expression()
        self.expect(";", " in `for (…; …; …)`")
        advance = () if self.texts[self.at] == ")" else self.expressions()
        self.close(opening)
        body = self._statement()
        origin = self.origin(first)
        # There is no `continue`: what comes before the last expression can join the body.
        if len(advance) > 1:
            more = tuple(Evaluate(expr, origin=expr.origin) for expr in advance[:-1])
            body = Block((), (body, *more), origin=body.origin)
        result: Statement = For(
            start[-1] if start else None,
            condition,
            advance[-1] if advance else None,
            body,
            origin=origin,
        )
        if len(start) > 1:
            before = tuple(Evaluate(expr, origin=expr.origin) for expr in start[:-1])
            result = Block((), (*before, result), origin=origin)
        return result
