"""The private members of Textual and Rich that widgets need, under public names.

Each has its reason here, and a test that fails by its name when the library changes it.
"""
