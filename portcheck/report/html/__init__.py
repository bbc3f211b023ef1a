"""The report as one HTML page that needs nothing else: no network, no server, no other file."""
