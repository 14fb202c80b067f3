"""Models: real ones behind servers, and the built-in guide."""
