"""What templates may call: one vocabulary of badges and one way to write a time."""
