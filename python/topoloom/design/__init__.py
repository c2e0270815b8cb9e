"""Design search: configurations of all families, by closed forms."""
