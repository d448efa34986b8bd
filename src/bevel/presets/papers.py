"""The papers that the presets come from."""

__all__ = ["BLASER", "LIN_JEON", "MENZE", "RODRIGUEZ", "SPORF", "TOMITA"]

BLASER = "Blaser, Random rotations in machine learning (thesis)"
LIN_JEON = "Lin and Jeon 2006, as reviewed by Duan 2016"
MENZE = "Menze et al. 2011, On oblique random forests"
RODRIGUEZ = "Rodriguez et al. 2006, Rotation forest"
SPORF = "Tomita et al. 2020, Sparse projection oblique randomer forests"
TOMITA = "Tomita 2018, Generalized linear splitting rules (thesis)"
