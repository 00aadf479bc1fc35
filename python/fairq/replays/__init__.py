"""`fairq replay`: how the replay of a capture is shown."""
