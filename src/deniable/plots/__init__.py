"""Pictures of arrays and labels: matplotlib for files, altair for pages."""
