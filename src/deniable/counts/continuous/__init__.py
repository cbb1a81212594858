"""Laplace and staircase noise: releases converted to it, and answers from it."""
