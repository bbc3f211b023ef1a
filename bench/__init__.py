"""What portcheck costs, each figure against a yardstick that is measured in the same run: `python -m bench.run`."""
