"""The parts of the exploration that run as machine code. Everything else calls them through
:mod:`whence.explore.search`; nothing above knows that numba exists."""
