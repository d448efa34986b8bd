"""Speed, quality, statistics and memory of Bevel, measured beside its peers. See README.md."""
