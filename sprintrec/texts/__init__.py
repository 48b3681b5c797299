"""Item fields to one text to vectors; where items have no text, vectors from what is seen together."""
