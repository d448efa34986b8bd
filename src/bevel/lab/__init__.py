"""The laboratory: forests compared on equal terms, as plain results that others print or draw."""
