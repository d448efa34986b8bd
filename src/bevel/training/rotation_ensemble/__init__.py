"""Ensembles of trees on rotations that are not all worth the same (Blaser, thesis, chapter 2)."""
