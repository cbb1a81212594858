"""One summary for each group: counted together, kept in one table, estimated and compared."""
