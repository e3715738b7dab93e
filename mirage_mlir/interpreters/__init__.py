"""Reference semantics of the dialects over floats and finite fields."""
