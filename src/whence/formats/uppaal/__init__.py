"""UPPAAL: models as XML or text, queries, and symbolic traces."""
