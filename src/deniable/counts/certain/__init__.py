"""Answers in ball arithmetic, with certified rounding errors: functions of many counts and of their total."""
