"""Bundles: many arrays handed to kernels as one pointer.

Numba passes a named tuple of arrays by value: some seven numbers for each array, copied wherever
the tuple is used, all of which has to be compiled.  A :class:`Bundle` is an object with arrays as
attributes.  Kernels get the address of a table of their addresses and lengths, and the
expression ``bundle.attribute`` in a kernel reads it there.

To plain Python a bundle is an ordinary object with arrays, so that kernels that take bundles run
without numba too.
"""

import importlib
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from whence.zones import jit

__all__ = ["Bundle", "array"]

#: For each array the table holds its address and up to three lengths.
_ENTRY = 4


@dataclass(frozen=True, slots=True)
class _Form:
    """What all arrays of one attribute have in common; lengths are None where they vary."""

    dtype: str
    shape: tuple[int | None, ...]

    def fits(self, value: Any) -> bool:
        return bool(
            value.dtype == self.dtype
            and value.ndim == len(self.shape)
            and all(a in (None, b) for a, b in zip(self.shape, value.shape, strict=True))
            and value.flags.c_contiguous
        )


def array(dtype: str, *shape: int | None) -> Any:
    """Declares an attribute of a bundle: a C-contiguous array of up to three dimensions."""
    return _Form(dtype, shape)


class Bundle:
    """Base of classes whose attributes are arrays, declared with :func:`array`.

    Arrays may be exchanged, and resized in place, whenever no kernel is running.
    """

    _forms: ClassVar[dict[str, _Form]]
    _numba_type_: ClassVar[Any]  # how numba asks an object for its type

    def __init_subclass__(cls) -> None:
        cls._forms = {name: form for name, form in vars(cls).items() if isinstance(form, _Form)}
        cls._numba_type_ = _numba_type(cls.__name__, cls._forms)

    def __init__(self, **arrays: Any) -> None:
        """Pre: an array for every attribute, of the declared form (checked)."""
        self._table = np.ones((len(self._forms), _ENTRY), np.int64)
        if arrays.keys() != self._forms.keys():
            raise TypeError(f"not the arrays of {type(self).__name__}: {', '.join(arrays)}")
        for name, value in arrays.items():
            if not self._forms[name].fits(value):
                raise TypeError(f"{name}: {value.dtype}{value.shape}, not {self._forms[name]}")
            setattr(self, name, value)

    @property
    def _address(self) -> int:
        """The address of the table, which is brought up to date; compiled calls ask for it."""
        entries = []
        for name in self._forms:
            value = getattr(self, name)
            shape = value.shape
            entries.append((value.__array_interface__["data"][0], *shape, *(1,) * (3 - len(shape))))
        self._table[:] = entries
        return int(self._table.__array_interface__["data"][0])


def _numba_type(name: str, forms: dict[str, _Form]) -> Any:
    """The numba type of a bundle; None in plain Python."""
    return None if jit.numba.config.DISABLE_JIT else _BundleType(name, tuple(forms.items()))


if not jit.numba.config.DISABLE_JIT:
    _extending: Any = importlib.import_module("numba.extending")
    _types: Any = importlib.import_module("numba.core.types")
    _templates: Any = importlib.import_module("numba.core.typing.templates")
    _arrayobj: Any = importlib.import_module("numba.np.arrayobj")
    _ir: Any = importlib.import_module("llvmlite.ir")

    class _BundleType(_types.Type):  # type: ignore[misc]
        """The numba type of a bundle; in compiled code, a pointer to its table."""

        def __init__(self, name: str, forms: tuple[tuple[str, _Form], ...]) -> None:
            self.forms = dict(forms)
            self.positions = {attribute: n for n, attribute in enumerate(self.forms)}
            super().__init__(name=f"{name}{forms}")

        def array(self, attribute: str) -> Any:
            form = self.forms[attribute]
            return _types.Array(getattr(_types, form.dtype), len(form.shape), "C")

    @_extending.register_model(_BundleType)
    class _BundleModel(_extending.models.PrimitiveModel):  # type: ignore[misc]
        def __init__(self, manager: Any, type_: Any) -> None:
            super().__init__(manager, type_, _ir.IntType(64).as_pointer())

    @_templates.infer_getattr
    class _BundleAttributes(_templates.AttributeTemplate):  # type: ignore[misc]
        key = _BundleType

        def generic_resolve(self, type_: Any, attribute: str) -> Any:
            return type_.array(attribute) if attribute in type_.forms else None

    @_extending.lower_getattr_generic(_BundleType)  # type: ignore[untyped-decorator]
    def _read(context: Any, builder: Any, type_: Any, value: Any, attribute: str) -> Any:
        """The array at an attribute, with the address and lengths that the table has now."""
        word = _ir.IntType(64)
        # No kernel changes a table: the compiler may read it as seldom or as often as it likes.
        unchanging = builder.module.add_metadata([])

        def entry(n: int) -> Any:
            at = word(_ENTRY * type_.positions[attribute] + n)
            loaded = builder.load(builder.gep(value, [at], inbounds=True))
            loaded.set_metadata("invariant.load", unchanging)
            return loaded

        array_type = type_.array(attribute)
        struct = context.make_array(array_type)(context, builder)
        size = _arrayobj.get_itemsize(context, array_type)
        shape = [
            entry(1 + axis) if length is None else word(length)
            for axis, length in enumerate(type_.forms[attribute].shape)
        ]
        strides = [word(size)]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
        _arrayobj.populate_array(
            struct,
            data=builder.inttoptr(entry(0), struct.data.type),
            shape=shape,
            strides=strides,
            itemsize=size,
            meminfo=None,
        )
        return struct._getvalue()

    @_extending.unbox(_BundleType)  # type: ignore[untyped-decorator]
    def _unbox(type_: Any, bundle: Any, c: Any) -> Any:
        address = c.pyapi.object_getattr_string(bundle, "_address")
        number = c.pyapi.long_as_longlong(address)
        c.pyapi.decref(address)
        return _extending.NativeValue(
            c.builder.inttoptr(number, _ir.IntType(64).as_pointer()),
            is_error=c.builder.icmp_unsigned("==", address, c.pyapi.get_null_object()),
        )
