"""Unary and histogram encoding: sue, oue, the, she."""
