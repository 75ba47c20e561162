"""Results on the terminal, as HTML, SVG and JSON; knows results, not algorithms."""
