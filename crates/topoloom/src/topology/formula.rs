//! Whole numbers computed from others, as machines write them into their specs: `{groups * 32}`, `{min(groups, 166)}`,
//! `{floor(racks, 7)}`.

/// What `formula` is: numbers and names, + - * / and brackets, the lesser and the greater of two numbers by `min` and `max`, a
/// quotient without its remainder by `floor`. Quotients must be whole, and no number is below 0.
///
/// # Errors
/// A sentence on what is wrong, without the formula.
pub(super) fn value(formula: &str, name: &dyn Fn(&str) -> Option<u64>) -> Result<u64, String> {
    let mut reader = Reader { rest: formula.trim(), name };
    let found = reader.sum()?;
    if reader.rest.is_empty() { Ok(found) } else { Err(format!("'{}' is left over", reader.rest)) }
}

struct Reader<'a> {
    rest: &'a str,
    name: &'a dyn Fn(&str) -> Option<u64>,
}

impl<'a> Reader<'a> {
    /// Takes one of `signs`, if it comes next.
    fn sign(&mut self, signs: &str) -> Option<char> {
        let found = self.rest.chars().next().filter(|next| signs.contains(*next))?;
        self.rest = self.rest[found.len_utf8()..].trim_start();
        Some(found)
    }

    fn sum(&mut self) -> Result<u64, String> {
        let mut total = self.product()?;
        while let Some(sign) = self.sign("+-") {
            let next = self.product()?;
            let found = if sign == '+' { total.checked_add(next) } else { total.checked_sub(next) };
            total = found.ok_or_else(|| format!("{total} {sign} {next} is out of range"))?;
        }
        Ok(total)
    }

    fn product(&mut self) -> Result<u64, String> {
        let mut total = self.factor()?;
        while let Some(sign) = self.sign("*/") {
            let next = self.factor()?;
            let (found, what) = match sign {
                '*' => (total.checked_mul(next), "out of range"),
                _ => (total.checked_div(next).filter(|whole| whole * next == total), "no whole number"),
            };
            total = found.ok_or_else(|| format!("{total} {sign} {next} is {what}"))?;
        }
        Ok(total)
    }

    /// The arguments of a function, whose bracket is open, and what it makes of them.
    fn function(&mut self, name: &str) -> Result<u64, String> {
        let first = self.sum()?;
        self.sign(",").ok_or_else(|| format!("{name} takes two numbers, as in {name}(7, 2)"))?;
        let second = self.sum()?;
        self.sign(")").ok_or_else(|| "a bracket is not closed".to_owned())?;
        let found = match name {
            "min" => Some(first.min(second)),
            "max" => Some(first.max(second)),
            _ => first.checked_div(second),
        };
        found.ok_or_else(|| format!("{name}({first}, {second}) divides by 0"))
    }

    fn factor(&mut self) -> Result<u64, String> {
        if self.sign("(").is_some() {
            let found = self.sum()?;
            return self.sign(")").map(|_| found).ok_or_else(|| "a bracket is not closed".to_owned());
        }
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if matches!(word, "min" | "max" | "floor") && self.sign("(").is_some() {
            return self.function(word);
        }
        let number = word.parse().ok();
        number.or_else(|| (self.name)(word)).ok_or_else(|| format!("'{word}' is neither a number nor a key"))
    }
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn formulas_are_whole_numbers() {
        let of = |formula| value(formula, &|name| (name == "groups").then_some(6));
        assert_eq!(of("groups*32 + 2 * (groups - 1)"), Ok(202));
        assert_eq!(of("groups / 4 * 2"), Err("6 / 4 is no whole number".to_owned()));
        assert_eq!(of("12 / groups"), Ok(2));
        assert_eq!(of("2 * min(groups, 4) + floor(groups, 4)"), Ok(9));
        assert_eq!(of("max(groups, 4) * max(1, 2)"), Ok(12));
        assert_eq!(of("floor(1, 0)"), Err("floor(1, 0) divides by 0".to_owned()));
        assert_eq!(of("min(1)"), Err("min takes two numbers, as in min(7, 2)".to_owned()));
        assert_eq!(of("2 - groups"), Err("2 - 6 is out of range".to_owned()));
        assert_eq!(of("1 / 0"), Err("1 / 0 is no whole number".to_owned()));
        assert_eq!(of("racks"), Err("'racks' is neither a number nor a key".to_owned()));
        assert_eq!(of("(groups"), Err("a bracket is not closed".to_owned()));
        assert_eq!(of("groups 3"), Err("'3' is left over".to_owned()));
        assert_eq!(of("3 *"), Err("'' is neither a number nor a key".to_owned()));
        assert_eq!(of("99999999999 * 99999999999"), Err("99999999999 * 99999999999 is out of range".to_owned()));
    }
}
