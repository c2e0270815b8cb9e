//! The texts of values with units: parts, bytes, times, rates.

/// A finite number, or one in percent.
pub fn fraction(text: &str) -> Option<f64> {
    let number = match text.strip_suffix('%') {
        Some(percent) => percent.parse::<f64>().ok()? / 100.0,
        None => text.parse().ok()?,
    };
    number.is_finite().then_some(number)
}

/// A number of bytes, one at least: `64`, `64B`, `64kB`, `64KiB`, `1.5MiB`, `2GB`, `1GiB`; units of bits are rejected.
pub fn bytes(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 8] = [
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("kB", 1_000),
        ("KB", 1_000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("B", 1),
    ];
    let (digits, unit) = UNITS
        .iter()
        .find_map(|(unit, factor)| text.strip_suffix(unit).map(|digits| (digits.trim_end(), *factor)))
        .unwrap_or((text, 1));
    let exact = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let read = exact.or_else(|| {
        // Anything but a plain number, such as 1e9 or inf, is no size.
        let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let number = digits.parse::<f64>().ok().filter(|_| plain)? * unit as f64;
        (number < 1e18 && number.fract() == 0.0).then_some(number as u64)
    });
    read.filter(|bytes| *bytes > 0)
}

/// A time with its unit, from 0 up.
pub fn seconds(text: &str) -> Option<f64> {
    let units = [("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];
    let (digits, unit) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let time = digits.trim_end().parse::<f64>().ok()? * unit;
    (time.is_finite() && time >= 0.0).then_some(time)
}

/// Bytes per second: `10Gb/s`, `400Gbit/s`, `12.5GB/s`, `100MB/s`; `400G` is 400 Gb/s, as ports are called.
pub fn rate(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 12] = [
        ("Gbit/s", 1e9 / 8.0),
        ("Mbit/s", 1e6 / 8.0),
        ("Tbit/s", 1e12 / 8.0),
        ("Gb/s", 1e9 / 8.0),
        ("Mb/s", 1e6 / 8.0),
        ("Tb/s", 1e12 / 8.0),
        ("GB/s", 1e9),
        ("MB/s", 1e6),
        ("TB/s", 1e12),
        ("M", 1e6 / 8.0),
        ("G", 1e9 / 8.0),
        ("T", 1e12 / 8.0),
    ];
    let (digits, unit) = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    let rate = digits.trim_end().parse::<f64>().ok()? * unit;
    (rate > 0.0 && rate.is_finite()).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::{bytes, rate};

    #[test]
    fn sizes_have_units_of_bytes() {
        let read = ["64", "64B", "64KiB", "1.5MiB", "2GB", "3 kB"].map(bytes);
        assert_eq!(read, [64, 64, 65_536, 1_572_864, 2_000_000_000, 3_000].map(Some));
        for wrong in ["0", "0KiB", "", "KiB", "64Kib", "64 Mb", "-1", "1e3", "inf", "0.3B", "99999999999GiB"] {
            assert_eq!(bytes(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn rates_tell_bits_from_bytes() {
        let read = ["10Gb/s", "10 Gbit/s", "12.5GB/s", "800Mb/s", "400G", "1.6T"].map(rate);
        assert_eq!(read, [1.25e9, 1.25e9, 12.5e9, 1e8, 50e9, 200e9].map(Some));
        for wrong in ["10", "10Gb", "0Gb/s", "-1GB/s", "infGB/s", "nanGb/s", "Gb/s", "G", "0G", "10g"] {
            assert_eq!(rate(wrong), None, "{wrong}");
        }
    }
}
