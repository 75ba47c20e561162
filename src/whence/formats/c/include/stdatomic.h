#error "not supported: atomic types (`_Atomic`)"
