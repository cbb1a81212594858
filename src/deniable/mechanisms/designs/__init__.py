"""Block designs and difference sets: design, csr, pgr, hpgr."""
