"""Questions asked before any report is collected."""
