"""One file per method, found by its name; a network of its own stands beside it as _NAME.py."""
