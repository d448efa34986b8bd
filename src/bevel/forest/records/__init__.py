"""Records of how forests were grown."""
