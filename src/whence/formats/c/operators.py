"""The kinds of operators, as libclang numbers them."""

from __future__ import annotations

from whence.model.program import (
    BinaryOperator,
)

__all__ = [
    "ADDRESS",
    "AND",
    "ASSIGN",
    "BINARY",
    "COMMA",
    "COMPOUND",
    "DEREFERENCE",
    "EXTENSION",
    "LOGICAL_NOT",
    "MINUS",
    "NOT",
    "OR",
    "PLUS",
    "POST_DECREMENT",
    "POST_INCREMENT",
    "PRE_DECREMENT",
    "PRE_INCREMENT",
]

# Binary ones (CXBinaryOperatorKind).
BINARY: dict[int, BinaryOperator] = {
    3: "*",
    4: "/",
    5: "%",
    6: "+",
    7: "-",
    8: "<<",
    9: ">>",
    11: "<",
    12: ">",
    13: "<=",
    14: ">=",
    15: "==",
    16: "!=",
    17: "&",
    18: "^",
    19: "|",
}
AND, OR, ASSIGN, COMMA = 20, 21, 22, 33
COMPOUND: dict[int, BinaryOperator] = {
    23: "*",
    24: "/",
    25: "%",
    26: "+",
    27: "-",
    28: "<<",
    29: ">>",
    30: "&",
    31: "^",
    32: "|",
}
# Unary ones (CXUnaryOperatorKind).
POST_INCREMENT, POST_DECREMENT, PRE_INCREMENT, PRE_DECREMENT = 1, 2, 3, 4
ADDRESS, DEREFERENCE, PLUS, MINUS, NOT, LOGICAL_NOT = 5, 6, 7, 8, 9, 10
EXTENSION = 13
