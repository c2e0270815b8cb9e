"""Simulations flit by flit: loads and options, points, and the curves that plans make of them."""
