//! Numbers as reports state them.

use crate::error::several;

/// A number of things: `1 cycle`, `1,000 cycles`.
pub fn counted(number: u32, noun: &str) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    several(text, noun)
}

/// A number of 1 at least, to six digits: `2`, `1.5`, `1.33333`.
pub fn significant(number: f64) -> String {
    let decimals = 5usize.saturating_sub(number.log10() as usize);
    let text = format!("{number:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(
            ["1 flit", "64 flits", "1,000 flits", "65,535 flits"],
            [1, 64, 1000, 65_535].map(|n| counted(n, "flit")).each_ref().map(String::as_str)
        );
        assert_eq!(
            ["1", "1.5", "1.33333", "15.3333", "16"],
            [1.0, 1.5, 4.0 / 3.0, 46.0 / 3.0, 16.0].map(significant).each_ref().map(String::as_str)
        );
    }
}
