"""The user's settings: their schema, loading, validation and sources.

``settings_schema`` is the single list of keys: decoding, error messages, ``config example`` and
``config show`` are derived from it.
"""
