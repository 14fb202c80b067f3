"""The Textual application: wiring, dispatch, shutdown."""
