"""The ranker: page snapshots, candidate pools and breaking news."""
