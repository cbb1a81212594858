"""The plain data of every layer: no compiler, no statistics library, no I/O."""
