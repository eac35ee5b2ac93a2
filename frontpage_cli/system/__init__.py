"""The whole system on one machine: what runs, starting and stopping it, looking at it. Used by `commands/system.py`."""
