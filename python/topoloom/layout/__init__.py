"""Networks on the machine floor: cabinets, cables, what they cost and draw."""
