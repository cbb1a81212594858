"""Errors, sizes and attack rates of mechanisms by formula, before any is made; and the choice among them."""
