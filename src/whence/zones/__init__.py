"""Zones: difference-bound matrices, their abstractions, and finite unions of them.

This package initialiser imports nothing, because importing numba costs about half a second
and most commands of the program never touch a zone.  The modules are:

``bounds``
    the encoding of a bound in one 32-bit integer, and :class:`~whence.zones.bounds.ZoneOverflow`;
    imports neither numba nor numpy.
``jit``
    the ``kernel`` decorator.  **The only module that imports numba**; importing any of the
    modules below therefore imports numba too.
``dbm``
    kernels on one matrix (Bengtsson & Yi 2004).
``extrapolation``
    kernels that abstract zones, and the test of inclusion under the abstraction aLU.
``federation``
    :class:`~whence.zones.federation.Federation`, exact finite unions of zones.
``zone``
    :class:`~whence.zones.zone.Zone`, one immutable zone for readers of results.
"""
