"""What fills the terminal: the chat, and what is put over it."""
