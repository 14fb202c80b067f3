"""The rows of a transcript and the viewport on them."""
