"""The page of a run: tables, tests and figures, with the published numbers beside them."""
