//! The grammar of names: `head:item,item,…`, with brackets for names within names and quotes for any text.
//!
//! A comma separates items unless it stands in brackets or in double quotes. A colon ends the head. An item is
//! `key=value`, or a value alone: sizes, a path, a flag.

/// Why a name cannot be cut into items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Broken {
    /// A closing bracket without its opening one.
    Closes,
    /// An opening bracket without its closing one.
    Open,
    /// A quote that does not end.
    Quote,
    /// Brackets in brackets, deeper than any name needs.
    Deep,
}

impl Broken {
    /// The mistake, as the end of a sentence.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Closes => "a bracket closes that none opens",
            Self::Open => "a bracket is not closed",
            Self::Quote => "a quote is not closed",
            Self::Deep => "brackets are nested too deeply",
        }
    }
}

/// Brackets within brackets, at most.
pub const DEPTH: u32 = 16;

/// The head of a name, and what stands behind its colon; empty where there is none.
pub fn split_head(name: &str) -> (&str, &str) {
    let name = name.trim();
    name.split_once(':').map_or((name, ""), |(head, rest)| (head.trim_end(), rest))
}

/// The items between commas, trimmed; those in brackets and in quotes stay together.
pub fn items(rest: &str) -> Result<Vec<&str>, Broken> {
    let (mut items, mut first, mut depth, mut quoted) = (Vec::new(), 0, 0u32, false);
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' if depth == DEPTH => return Err(Broken::Deep),
            b'(' => depth += 1,
            b')' => depth = depth.checked_sub(1).ok_or(Broken::Closes)?,
            b',' if depth == 0 => {
                items.push(rest[first..at].trim());
                first = at + 1;
            }
            _ => {}
        }
    }
    match (quoted, depth) {
        (true, _) => Err(Broken::Quote),
        (_, 0) => {
            items.push(rest[first..].trim());
            Ok(items)
        }
        _ => Err(Broken::Open),
    }
}

/// The key and the value of an item; no key where it has no equals sign outside brackets and quotes.
pub fn pair(item: &str) -> (Option<&str>, &str) {
    let equals = item.bytes().take_while(|byte| !matches!(byte, b'(' | b'"')).position(|byte| byte == b'=');
    match equals {
        Some(at) => (Some(item[..at].trim()), unquoted(item[at + 1..].trim())),
        None => (None, unquoted(item)),
    }
}

/// A value without the quotes around it.
fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_head() {
        assert_eq!(split_head("mesh:4x4,p=2"), ("mesh", "4x4,p=2"));
        assert_eq!(split_head(" min "), ("min", ""));
        assert_eq!(split_head("table:a:b.csv"), ("table", "a:b.csv"));
    }

    #[test]
    fn commas_in_brackets_and_quotes_separate_nothing() {
        assert_eq!(items("4x4, p=2"), Ok(vec!["4x4", "p=2"]));
        assert_eq!(items("two-cab(torus:4x4,p=2),trials=3"), Ok(vec!["two-cab(torus:4x4,p=2)", "trials=3"]));
        assert_eq!(items("a(b(c,d),e),f"), Ok(vec!["a(b(c,d),e)", "f"]));
        assert_eq!(items("\"run(1,2.csv\",p=1"), Ok(vec!["\"run(1,2.csv\"", "p=1"]));
        assert_eq!(items(""), Ok(vec![""]));
        assert_eq!(items("a,,b"), Ok(vec!["a", "", "b"]));
    }

    #[test]
    fn what_is_broken_is_named() {
        assert_eq!(items("a)"), Err(Broken::Closes));
        assert_eq!(items("(a"), Err(Broken::Open));
        assert_eq!(items("\"a"), Err(Broken::Quote));
        assert_eq!(items(&"(".repeat(20)), Err(Broken::Deep));
        assert_eq!(items(&format!("{}{}", "(".repeat(16), ")".repeat(16))).map(|items| items.len()), Ok(1));
    }

    #[test]
    fn items_are_pairs_or_values() {
        assert_eq!(pair("p=2"), (Some("p"), "2"));
        assert_eq!(pair("fabric=(clos:radix=8)"), (Some("fabric"), "(clos:radix=8)"));
        assert_eq!(pair("4x4"), (None, "4x4"));
        assert_eq!(pair("two-cab(torus:4x4,p=2)"), (None, "two-cab(torus:4x4,p=2)"));
        assert_eq!(pair("\"a=b.csv\""), (None, "a=b.csv"));
        assert_eq!(pair("path=\"a,b.csv\""), (Some("path"), "a,b.csv"));
    }
}
