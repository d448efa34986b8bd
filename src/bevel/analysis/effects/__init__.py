"""How predictions change with features: partial dependence and other effects."""
