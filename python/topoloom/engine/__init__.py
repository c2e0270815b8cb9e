"""What the engine returns: a class for each type of result, generated from the crate by ``make generate``."""
