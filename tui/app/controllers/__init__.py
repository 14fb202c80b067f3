"""Controllers: each acts on one kind of intent."""
