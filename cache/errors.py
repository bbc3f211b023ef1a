"""What whoever asks for a cache gets wrong. Trouble with a cache that is there is a miss, and never raised."""


class CacheError(ValueError):
    """No cache can be there; the text says what to write instead."""
