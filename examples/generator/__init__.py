"""Generator of sequential and distributed transformer graphs; the entry script is ../generate.py."""
