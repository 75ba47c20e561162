#error "not supported: complex numbers (`_Complex`)"
