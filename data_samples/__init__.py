"""The sample world: made-up publishers, their articles, their readers, and the truth about them."""
