"""How predictions change with features: partial dependence, accumulated local effects and others."""
