"""What every mechanism is made of: a definition, a device's half, a server's half."""
