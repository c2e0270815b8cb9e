"""Machines that exist: measurements, endpoints fitted on one and two nodes, and predictions of larger runs.

The network's part of a prediction comes from the flow engine; see docs/hardware.md.
"""
