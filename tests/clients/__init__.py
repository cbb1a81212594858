"""The clients in other languages, against the package: the same reports from the same keys, and the same refusals."""
