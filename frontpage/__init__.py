"""The shared heart of Frontpage: one implementation that the batch layer and the speed layer both call.

Layers, top to bottom (checked by import-linter): `adapters` -> `contracts` -> `domain`.
Not for: processes (see `streaming/`, `batch/`, `serving/`) or command lines (see `frontpage_cli/`).
"""
