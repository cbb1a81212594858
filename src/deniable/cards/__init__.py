"""What a notebook shows for an object: small cards of HTML and inline SVG, without scripts or outside resources."""
