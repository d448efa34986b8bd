"""`projection="auto"`: several families of directions share the trees of a forest."""
