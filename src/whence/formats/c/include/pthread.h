#error "not supported: threads"
