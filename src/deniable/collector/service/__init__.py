"""The rules of a collector; they know no HTTP and no SQL."""
