//! Networks cut in two: the bisection, and what the spectrum of the graph states that it cannot be less than.

pub mod bisection;
mod spectrum;
