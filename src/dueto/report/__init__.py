"""Pages that people read: HTML that needs nothing else, made of what the other rooms found."""
