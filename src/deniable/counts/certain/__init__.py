"""Answers with certified error bounds: ball arithmetic, joint errors, unknown totals."""
