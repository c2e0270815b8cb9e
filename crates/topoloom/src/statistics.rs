//! Estimates from samples, with 95 % confidence intervals.

/// The 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_964;

/// The 97.5 % quantile of Student's t; beyond 30 degrees of freedom by its expansion about the normal quantile.
pub fn student_t(degrees: usize) -> f64 {
    const TABLE: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
    ];
    let expansion = NORMAL + (NORMAL * NORMAL * NORMAL + NORMAL) / (4.0 * degrees as f64);
    TABLE.get(degrees.wrapping_sub(1)).copied().unwrap_or(expansion)
}

/// To 12 decimals: what is beyond them is rounding of many sums.
pub(crate) fn rounded(value: f64) -> f64 {
    (value * 1e12).round() / 1e12
}

/// The mean of independent samples and half the width of its interval, by Student's t; no width for a single one.
pub fn mean(samples: &[f64]) -> Option<(f64, Option<f64>)> {
    let n = samples.len();
    if n == 0 {
        return None;
    }
    let mean = samples.iter().sum::<f64>() / n as f64;
    let squares: f64 = samples.iter().map(|x| (x - mean).powi(2)).sum();
    let half = (n > 1).then(|| student_t(n - 1) * (squares / ((n - 1) as f64 * n as f64)).sqrt());
    Some((mean, half))
}

/// The interval of a probability of which `successes` of `trials` (at least one) were seen: Wilson's score interval,
/// which holds its promise for few trials and near 0 and 1, too.
pub fn share(successes: usize, trials: usize) -> [f64; 2] {
    let (n, p, z2) = (trials as f64, successes as f64 / trials as f64, NORMAL * NORMAL);
    let center = (p + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = NORMAL / (1.0 + z2 / n) * (p * (1.0 - p) / n + z2 / (4.0 * n * n)).sqrt();
    // Nothing can be ruled out that was always seen.
    [if successes == 0 { 0.0 } else { center - half }, if successes == trials { 1.0 } else { center + half }]
}

/// The positions, in ascending samples, of the two between which the median of what they were drawn from lies in at least
/// 95 of 100 cases, whatever its distribution; the outermost samples where there are too few for that (below 6).
pub fn median_places(samples: usize) -> [usize; 2] {
    // Below the median lies a binomial number of samples: leave out at either end while the tail is at most 2.5 %.
    let n = samples as f64;
    let mut ln_term = -n * std::f64::consts::LN_2;
    let (mut tail, mut place) = (0.0, 0);
    while place < samples.saturating_sub(1) / 2 {
        tail += ln_term.exp();
        if tail > 0.025 {
            break;
        }
        place += 1;
        ln_term += ((n - place as f64 + 1.0) / place as f64).ln();
    }
    let low = place.saturating_sub(1);
    [low, samples.saturating_sub(1 + low)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_that_textbooks_print() {
        // Wilson: 15 of 50, 0.191 to 0.438; none of 10, 0 to 0.278.
        let [low, high] = share(15, 50);
        assert!((low - 0.1910).abs() < 5e-5 && (high - 0.4375).abs() < 5e-5, "{low} {high}");
        let [low, high] = share(0, 10);
        assert!(low == 0.0 && (high - 0.2775).abs() < 5e-5, "{high}");
        assert_eq!(share(10, 10)[1], 1.0);
        // Of 10 samples the 2nd and the 9th, of 20 the 6th and the 15th, of 100 the 40th and the 61st.
        let places = [10, 20, 100].map(median_places);
        assert_eq!(places, [[1, 8], [5, 14], [39, 60]]);
        assert_eq!([0, 1, 2, 5].map(median_places), [[0, 0], [0, 0], [0, 1], [0, 4]]);
        let (center, half) = mean(&[1.0, 2.0, 3.0]).expect("samples");
        assert!(center == 2.0 && (half.expect("more than one") - 4.303 / 3f64.sqrt()).abs() < 1e-12);
        assert_eq!((mean(&[4.0]), mean(&[])), (Some((4.0, None)), None));
    }

    #[test]
    fn the_median_of_many_samples_can_be_placed() {
        // Of 10,000 samples about 50 +- 98 / 2 in a hundred: no term of the tail may vanish or overflow.
        assert_eq!(median_places(10_000), [4901, 5098]);
    }
}
