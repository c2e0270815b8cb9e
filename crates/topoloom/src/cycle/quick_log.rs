//! Long geometric gaps between packets, by a logarithm that takes half as long as the library's, and by no division.

/// The gaps of one process. A draw whose sum lies near a whole number is left to the library: what is decided here is the same.
#[derive(Debug)]
pub struct QuickLog {
    /// By the highest bits of a mantissa, for the middle of the numbers that begin so: its inverse, and its logarithm.
    middles: [(f64, f64); 1 << Self::BITS],
    /// 1 / ln(1 - p), or not a number where the library decides all.
    scale: f64,
}

impl QuickLog {
    /// Bits of a mantissa that are looked up.
    const BITS: u32 = 7;
    /// The bits of a mantissa, and the power of two by which draws are scaled.
    const MANTISSA: u32 = 52;
    const DRAW: i32 = 53;
    /// What is added to the exponent of a number's bits.
    const BIAS: i32 = 1023;
    /// How far from a whole number a sum must be. The logarithm is exact to 10^-12, and the library's sum with any cycle is
    /// rounded by less than half of this.
    const MARGIN: f64 = 1e-6;
    /// The longest mean gap for which that is enough.
    const LONGEST: f64 = 1e5;
    /// The end of what is decided here.
    const END: f64 = 4e9;

    /// That of a process whose probability of no packet in a cycle is e^`log`.
    pub fn new(log: f64) -> Self {
        let scale = 1.0 / log;
        Self { scale: if scale.abs() <= Self::LONGEST { scale } else { f64::NAN }, ..Self::default() }
    }

    /// `from` plus the failures that a draw from 1 to 2^53 means, rounded down; `None` if the library must decide.
    #[inline(always)]
    pub fn cycle(&self, from: u32, draw: u64) -> Option<u32> {
        let bits = (draw as f64).to_bits();
        let highest = (bits >> (Self::MANTISSA - Self::BITS)) as usize & (self.middles.len() - 1);
        let (inverse, log) = self.middles[highest];
        let mantissa = f64::from_bits(bits & ((1 << Self::MANTISSA) - 1) | (Self::BIAS as u64) << Self::MANTISSA);
        // The series of ln(1 + x), whose next term is below 2 * 10^-13.
        let x = mantissa * inverse - 1.0;
        let rest = x * (1.0 + x * (-0.5 + x * (1.0 / 3.0 - x * 0.25)));
        let exponent = (bits >> Self::MANTISSA) as i32 - (Self::BIAS + Self::DRAW);
        let logarithm = f64::from(exponent) * std::f64::consts::LN_2 + (log + rest);
        let sum = f64::from(from) + logarithm * self.scale;
        let whole = sum as u32;
        let above = sum - f64::from(whole);
        (above > Self::MARGIN && above < 1.0 - Self::MARGIN && sum < Self::END).then_some(whole)
    }
}

impl Default for QuickLog {
    /// The library decides all.
    fn default() -> Self {
        let middles = std::array::from_fn(|highest| {
            let middle = 1.0 + (highest as f64 + 0.5) / f64::from(1 << Self::BITS);
            (1.0 / middle, middle.ln())
        });
        Self { middles, scale: f64::NAN }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// What the library decides, as the engine's sources do without this.
    fn exact(from: u32, draw: u64, log: f64) -> u32 {
        let unit = draw as f64 * (1.0 / (1u64 << 53) as f64);
        (f64::from(from) + (unit.ln() / log).min(4e9)).min(f64::from(u32::MAX)) as u32
    }

    #[test]
    fn what_is_decided_is_the_same_and_most_is() {
        let mut rng = Rng::stream(7, 0);
        for p in [1.0f64, 0.7, 0.15, 0.1, 0.01, 1e-3, 2e-5] {
            let (log, mut left) = ((-p).ln_1p(), 0);
            let quick = QuickLog::new(log);
            for draw in (0..20_000).map(|_| rng.grains()).chain([1, 2, 3, 1 << 52, (1 << 53) - 1, 1 << 53]) {
                for from in [0, 12_345, 3_900_000_000] {
                    match quick.cycle(from, draw) {
                        Some(cycle) => assert_eq!(cycle, exact(from, draw, log), "{p} {from} {draw}"),
                        None => left += 1,
                    }
                }
            }
            assert!(left < 100 || p == 1.0 || p == 2e-5, "{p}: {left} are left to the library");
        }
    }

    #[test]
    fn draws_that_mean_nearly_a_whole_number_are_left_to_the_library() {
        for p in [0.15f64, 0.01, 1e-3] {
            let log = (-p).ln_1p();
            let quick = QuickLog::new(log);
            for failures in 1..2_000 {
                let middle = (log * f64::from(failures)).exp() * (1u64 << 53) as f64;
                for step in -40i64..=40 {
                    let draw = (middle as i64 + step * (middle * 1e-13) as i64).clamp(1, 1 << 53) as u64;
                    let cycle = quick.cycle(77, draw);
                    assert!(cycle.is_none_or(|cycle| cycle == exact(77, draw, log)), "{p} {failures} {draw}");
                }
                if middle > 1e12 {
                    assert_eq!(quick.cycle(77, middle as u64), None, "{p} {failures}");
                }
            }
            // Half of all draws: as many failures as ln(2) is of the scale, never a whole number here.
            assert_eq!(quick.cycle(0, 1 << 52), Some(exact(0, 1 << 52, log)));
        }
    }

    #[test]
    fn where_gaps_are_too_long_the_library_decides() {
        for quick in [QuickLog::default(), QuickLog::new((-1e-6f64).ln_1p()), QuickLog::new(0.0)] {
            assert!([1, 1 << 20, 1 << 52, 1 << 53].into_iter().all(|draw| quick.cycle(5, draw).is_none()));
        }
        // Behind the end of what is decided.
        assert_eq!(QuickLog::new((-0.01f64).ln_1p()).cycle(4_100_000_000, 1 << 52), None);
    }
}
