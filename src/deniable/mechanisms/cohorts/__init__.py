"""Values hashed by cohort, in closed and open domains: orr, orappor, cms, hcms."""
