"""The story writers (one per language partition) and the story store."""
