"""The shapes reports come in: how they are checked, counted, packed and unpacked."""
