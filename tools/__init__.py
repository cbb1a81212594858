"""What writes files that follow from the code: run by `make derived` and `make vectors`."""
