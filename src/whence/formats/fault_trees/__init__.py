"""Writers of fault trees: Galileo, Open-PSA, Graphviz, JSON, and a table of the causes."""
