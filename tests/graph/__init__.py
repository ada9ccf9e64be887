"""Graph documents: reading, checking, naming and finding them."""
