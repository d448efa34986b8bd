"""Tables that are read batch by batch: files, memory-mapped arrays, iterators of batches.

`scan` describes a table, `survey` reads it once and learns what must be known of it as a whole,
`encoding` reads it again and cuts it into blocks, `store` keeps blocks in memory or in files.
"""

from bevel.scanning.scan import ScannedTable, scan

__all__ = ["ScannedTable", "scan"]
