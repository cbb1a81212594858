"""The linear model of values hashed by cohort, and its solutions."""
