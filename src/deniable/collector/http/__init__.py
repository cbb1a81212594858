"""The collector's rules over HTTP."""
