//! Counter-based random streams: one per terminal, one per (router input, cycle). No stream is shared, so results do
//! not depend on the order in which routers are visited, nor on the number of threads.

/// Mixes 64 bits so that every input bit reaches every output bit: Pelle Evensen's `moremur` constants.
#[inline(always)]
pub fn mix(mut x: u64) -> u64 {
    x ^= x >> 27;
    x = x.wrapping_mul(0x3C79_AC49_2BA7_B653);
    x ^= x >> 33;
    x = x.wrapping_mul(0x1C69_B3F7_4AC4_AE35);
    x ^ (x >> 27)
}

/// The odd step between the counters of a stream (2^64 over the golden ratio).
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// A random stream: the mixed values of a counter.
#[derive(Debug, Clone, Copy)]
pub struct Rng {
    /// The number of the stream before it begins.
    counter: u64,
    seed: u64,
    begun: bool,
}

impl Rng {
    /// The stream number `id` of `seed`. Streams of different ids are independent.
    ///
    /// It begins with its first draw, or with [`Rng::begin`].
    #[inline(always)]
    pub fn stream(seed: u64, id: u64) -> Self {
        Self { counter: id, seed, begun: false }
    }

    /// Begins it, if it has not begun. Its draws are the same.
    #[inline(always)]
    pub fn begin(&mut self) {
        if !self.begun {
            (self.counter, self.begun) = (mix(self.seed ^ mix(self.counter.wrapping_add(STEP))), true);
        }
    }

    /// The next 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.begin();
        self.counter = self.counter.wrapping_add(STEP);
        mix(self.counter)
    }

    /// A uniform whole number below `n` (bias below n / 2^32).
    #[inline(always)]
    pub fn below(&mut self, n: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(n)) >> 32) as u32
    }

    /// A uniform real in (0, 1].
    #[inline(always)]
    pub fn unit(&mut self) -> f64 {
        Self::real(self.grains())
    }

    /// A uniform whole number from 1 to 2^53: [`Rng::unit`] before it is scaled.
    #[inline(always)]
    pub fn grains(&mut self) -> u64 {
        (self.bits() >> 11) + 1
    }

    /// What [`Rng::unit`] makes of [`Rng::grains`].
    #[inline(always)]
    pub fn real(grains: u64) -> f64 {
        grains as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// The rest of the stream.
    #[inline(always)]
    pub fn kept(mut self) -> KeptRng {
        self.begin();
        KeptRng { counter: self.counter }
    }

    /// Shuffles, every order equally likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u32 + 1) as usize);
        }
    }

    /// True with probability one half.
    #[inline(always)]
    pub fn coin(&mut self) -> bool {
        self.bits() >> 63 == 1
    }
}

/// A random stream that has begun, in as little memory as it takes.
#[derive(Debug, Clone, Copy)]
pub struct KeptRng {
    counter: u64,
}

impl KeptRng {
    /// [`Rng::stream`].
    pub fn stream(seed: u64, id: u64) -> Self {
        Rng::stream(seed, id).kept()
    }

    /// The stream, to draw from; [`KeptRng::keep`] it then.
    #[inline(always)]
    pub fn get(self) -> Rng {
        Rng { counter: self.counter, seed: 0, begun: true }
    }

    /// Continues behind what has been drawn.
    #[inline(always)]
    pub fn keep(&mut self, rng: Rng) {
        self.counter = rng.counter;
    }

    /// What `draw` makes of the stream's next draws.
    #[inline(always)]
    pub fn draw<T>(&mut self, draw: impl FnOnce(&mut Rng) -> T) -> T {
        let mut rng = self.get();
        let drawn = draw(&mut rng);
        self.keep(rng);
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::{KeptRng, Rng};

    #[test]
    fn a_stream_is_the_same_begun_copied_or_kept() {
        let mut rng = Rng::stream(3, 9);
        let (mut copy, mut kept) = (rng, KeptRng::stream(3, 9));
        let drawn: Vec<u64> = (0..5).map(|_| rng.bits()).collect();
        assert_eq!(drawn, (0..5).map(|_| copy.bits()).collect::<Vec<_>>());
        assert_eq!(drawn, (0..5).map(|_| kept.draw(Rng::bits)).collect::<Vec<_>>());
        assert_ne!(drawn[0], Rng::stream(3, 10).bits());
        assert_ne!(drawn[0], Rng::stream(4, 9).bits());
    }

    #[test]
    fn streams_of_consecutive_ids_are_uniform_and_uncorrelated() {
        // The first draw of many consecutive streams is what routing uses; chi-squared over 64 cells and over pairs.
        let draws: Vec<usize> = (0..64_000u64).map(|id| Rng::stream(1, id).below(64) as usize).collect();
        let mut cells = [0f64; 64];
        draws.iter().for_each(|&d| cells[d] += 1.0);
        let chi: f64 = cells.iter().map(|c| (c - 1000.0).powi(2) / 1000.0).sum();
        assert!(chi < 120.0, "chi squared {chi} over 63 degrees of freedom");
        let mut pairs = vec![0f64; 64 * 64];
        draws.windows(2).for_each(|w| pairs[w[0] * 64 + w[1]] += 1.0);
        let expected = 63_999.0 / 4096.0;
        let chi: f64 = pairs.iter().map(|c| (c - expected).powi(2) / expected).sum();
        assert!((3600.0..4600.0).contains(&chi), "chi squared {chi} over 4095 degrees of freedom");
    }

    #[test]
    fn below_is_uniform_for_odd_moduli() {
        let mut rng = Rng::stream(7, 7);
        let mut cells = [0u32; 13];
        (0..130_000).for_each(|_| cells[rng.below(13) as usize] += 1);
        assert!(cells.iter().all(|&c| (9_500..10_500).contains(&c)), "{cells:?}");
    }
}
