"""Ensembles on rotations from the papers, of trees and of learners of other libraries."""
