"""What forests remember of how they were grown."""
