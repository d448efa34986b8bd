"""Bevel as the field's arenas expect a model: AutoGluon and TabArena, and suites of local files."""
