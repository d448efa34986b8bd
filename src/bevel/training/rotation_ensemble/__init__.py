"""Ensembles of trees on rotations of unequal weight (Blaser, thesis, chapter 2)."""
