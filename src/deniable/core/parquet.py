"""How reports and summaries are kept in Parquet: compressed, and with a checksum for every page.

A bit that turns over on a disk can leave a page that decodes, and a report that nobody sent. Readers compare the
checksums; pages of other writers, which have none, are read as they are.
"""

WRITTEN = {"compression": "zstd", "write_page_checksum": True}  # arguments of ParquetWriter and write_table
READ = {"page_checksum_verification": True}  # of ParquetFile
