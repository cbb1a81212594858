"""Planning, before any report is collected: the number of users, the choice of mechanism and of its sizes."""
