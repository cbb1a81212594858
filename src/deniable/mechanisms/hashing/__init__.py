"""Local hashing under a public coin: olh, blh, flh, clh."""
