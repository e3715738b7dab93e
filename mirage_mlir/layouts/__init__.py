"""Layouts of tiles: registers, shared memory, bank conflicts, sectors, the memory plan. No IR."""
