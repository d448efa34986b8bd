"""Tables that are read batch by batch: files, memory-mapped arrays, iterators of batches.

`scan` describes a table, `survey` reads it once for statistics of the whole table,
`encoding` reads it again and cuts it into blocks, `store` keeps blocks in memory or in files.
"""

from bevel.scanning.table import ScannedTable, scan

__all__ = ["ScannedTable", "scan"]
