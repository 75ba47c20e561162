"""C: translation units as clang sees them, into the core language of `whence.model.program`."""
