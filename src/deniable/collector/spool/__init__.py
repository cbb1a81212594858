"""Reports as Parquet files instead of rows: taken by many collectors at once, counted later, each id once.

For more reports than one database takes. See docs/beyond-one-database.md.
"""
