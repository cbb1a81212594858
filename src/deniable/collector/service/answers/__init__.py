"""Questions about a collection, answered from published counts alone."""
