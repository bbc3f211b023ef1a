"""What changed between two sets of verdicts: releases, targets, reports or revisions."""
