//! The grammar of names: `head:item,item,…`, with brackets for names within names and quotes for any text.
//!
//! A comma separates items unless it is in brackets or in double quotes. A colon ends the head. An item is `key=value`,
//! or a value alone: sizes, a path, a flag. Whatever cuts a text that users write as one word does it here.

/// Why a name cannot be cut into items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrammarError {
    /// A closing bracket without its opening one.
    Closes,
    /// An opening bracket without its closing one.
    Open,
    /// A quote that does not end.
    Quote,
    /// Brackets in brackets, deeper than any name needs.
    Deep,
}

impl GrammarError {
    /// The mistake, as the end of a sentence.
    pub fn sentence(self) -> String {
        match self {
            Self::Closes => "a bracket closes that none opens".to_owned(),
            Self::Open => "a bracket is not closed".to_owned(),
            Self::Quote => "a quote is not closed".to_owned(),
            Self::Deep => format!("brackets are nested more than {DEPTH} deep"),
        }
    }
}

/// Brackets within brackets, at most: networks made of networks are built one within the other, on one stack.
pub const DEPTH: u32 = 16;

/// What stands between a network and its failures, as command lines write them.
pub const FAIL: &str = " --fail ";

/// The head of a name, and the text after its colon; empty where there is none.
pub fn split_head(name: &str) -> (&str, &str) {
    let name = name.trim();
    name.split_once(':').map_or((name, ""), |(head, rest)| (head.trim_end(), rest))
}

/// A network, and the failures that a command line writes behind it.
pub fn split_failures(spec: &str) -> (&str, Option<&str>) {
    let spec = spec.trim();
    spec.split_once(FAIL).map_or((spec, None), |(intact, fail)| (intact.trim(), Some(fail.trim())))
}

/// The items between commas, trimmed; those in brackets and in quotes stay together.
pub fn items(rest: &str) -> Result<Vec<&str>, GrammarError> {
    let mut items = Vec::new();
    let mut first = 0;
    walk(rest, |at, byte, depth| {
        if byte == b',' && depth == 0 {
            items.push(rest[first..at].trim());
            first = at + 1;
        }
    })?;
    items.push(rest[first..].trim());
    Ok(items)
}

/// The first item, whose brackets are its own affair, such as those in a path, and the text after its comma.
pub fn split_first(rest: &str) -> (&str, Option<&str>) {
    let mut quoted = false;
    let comma = rest.bytes().position(|byte| {
        quoted ^= byte == b'"';
        byte == b',' && !quoted
    });
    comma.map_or((rest.trim(), None), |at| (rest[..at].trim(), Some(&rest[at + 1..])))
}

/// Calls `see` with every byte outside quotes, its place, and the brackets around it: opening and closing ones count
/// themselves.
fn walk(text: &str, mut see: impl FnMut(usize, u8, u32)) -> Result<(), GrammarError> {
    let (mut depth, mut quoted) = (0u32, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => quoted = !quoted,
            _ if quoted => {}
            b'(' if depth == DEPTH => return Err(GrammarError::Deep),
            b'(' => {
                depth += 1;
                see(at, byte, depth);
            }
            b')' => {
                see(at, byte, depth);
                depth = depth.checked_sub(1).ok_or(GrammarError::Closes)?;
            }
            _ => see(at, byte, depth),
        }
    }
    match (quoted, depth) {
        (true, _) => Err(GrammarError::Quote),
        (_, 0) => Ok(()),
        _ => Err(GrammarError::Open),
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
pub fn unquoted(value: &str) -> &str {
    value.strip_prefix('"').and_then(|value| value.strip_suffix('"')).unwrap_or(value)
}

/// A value that reads as itself: in quotes if it holds what the grammar would cut at.
pub fn quoted(value: &str) -> String {
    let plain = !value.contains('"') && matches!(items(value), Ok(items) if items == [value]);
    if plain { value.to_owned() } else { format!("\"{value}\"") }
}

/// What is in brackets, where a text is nothing else.
pub fn bracketed(text: &str) -> Option<&str> {
    text.strip_prefix('(')?.strip_suffix(')')
}

/// `word(inner)`: a word and what is in the brackets that end the text; no word where it begins with them.
pub fn wrapped(text: &str) -> Option<(&str, &str)> {
    let (word, behind) = split_behind(text)?;
    Some((word, bracketed(behind)?))
}

/// The text before the brackets that end a text, and these with what they hold.
pub fn split_behind(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let mut opened = 0;
    let walked = walk(text, |at, byte, depth| {
        if byte == b'(' && depth == 1 {
            opened = at;
        }
    });
    let ends = walked.is_ok() && bracketed(&text[opened..]).is_some();
    ends.then(|| (text[..opened].trim(), &text[opened..]))
}

/// An optional head, before a colon or a comma, and the text after it.
pub fn split_optional_head(text: &str) -> (Option<&str>, Option<&str>) {
    let (head, rest) = text.split_once([':', ',']).map_or((text, None), |(head, rest)| (head, Some(rest)));
    if head.contains('=') { (None, Some(text)) } else { (Some(head.trim()), rest) }
}

/// The keys of a text whose head may be left out, the head among them; none of a broken one.
pub fn keys(text: &str) -> Vec<&str> {
    let (head, rest) = split_optional_head(text);
    let items = rest.and_then(|rest| items(rest).ok()).unwrap_or_default();
    head.into_iter().chain(items.into_iter().map(|item| pair(item).0.unwrap_or(item))).collect()
}

/// The two sides of a range `1-32`, or none where there is no dash.
pub fn range(text: &str) -> Option<(&str, &str)> {
    text.split_once('-')
}

/// A value with a second one behind a colon, as in `4:0.8`.
pub fn weighted(item: &str) -> Option<(&str, &str)> {
    item.split_once(':')
}

/// True of a key of one class of links, as in `rate.global`.
pub fn is_of_class(key: &str) -> bool {
    key.contains('.')
}

/// The numbers of `4x4x2`.
pub fn sides(text: &str) -> impl Iterator<Item = &str> {
    text.split('x')
}

/// The values of a list such as `0,4-7`.
pub fn list(text: &str) -> impl Iterator<Item = &str> {
    text.split(',')
}

/// The rows of `0:4/0:0`, number by number.
pub fn rows(text: &str) -> impl Iterator<Item = impl Iterator<Item = &str>> {
    text.split('/').map(|row| row.split(':'))
}

/// The names in a text, with commas between them: a comma also separates the items of one name, the numbers of one
/// item, and the parts of a path behind a colon, which hold a dot or a slash. `None` where a name is empty or the text is
/// broken.
pub fn names(text: &str) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for item in items(text).ok()? {
        let begins = item.bytes().next().is_none_or(|byte| !byte.is_ascii_digit());
        let head = || item.bytes().take_while(|byte| !matches!(byte, b':' | b'(' | b'"'));
        // Criteria have dots as well, and no path: `makespan.alltoall:size=1KiB`, `saturation.uniform`.
        let in_path = names.last().and_then(|last| last.split_once(':')).is_some_and(|(name, _)| !name.contains('.'));
        let continues = !begins || head().any(|byte| byte == b'=' || in_path && matches!(byte, b'.' | b'/'));
        match names.last_mut() {
            Some(last) if continues => {
                last.push(',');
                last.push_str(item);
            }
            _ => names.push(item.to_owned()),
        }
    }
    names.iter().all(|name| !name.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_a_head() {
        assert_eq!(split_head("mesh:4x4,p=2"), ("mesh", "4x4,p=2"));
        assert_eq!(split_head(" min "), ("min", ""));
        assert_eq!(split_head("table:a:b.csv"), ("table", "a:b.csv"));
        assert_eq!(split_failures(" mesh:4x4 --fail links=2 "), ("mesh:4x4", Some("links=2")));
        assert_eq!(split_failures("mesh:4x4"), ("mesh:4x4", None));
    }

    #[test]
    fn commas_in_brackets_and_quotes_separate_nothing() {
        assert_eq!(items("4x4, p=2"), Ok(vec!["4x4", "p=2"]));
        assert_eq!(items("two-cab(torus:4x4,p=2),trials=3"), Ok(vec!["two-cab(torus:4x4,p=2)", "trials=3"]));
        assert_eq!(items("a(b(c,d),e),f"), Ok(vec!["a(b(c,d),e)", "f"]));
        assert_eq!(items("\"run(1,2.csv\",p=1"), Ok(vec!["\"run(1,2.csv\"", "p=1"]));
        assert_eq!(items(""), Ok(vec![""]));
        assert_eq!(items("a,,b"), Ok(vec!["a", "", "b"]));
        assert_eq!(split_first("run(1.csv,p=1,as=(a,b)"), ("run(1.csv", Some("p=1,as=(a,b)")));
        assert_eq!(split_first("\"a,b.csv\",p=1"), ("\"a,b.csv\"", Some("p=1")));
        assert_eq!(split_first("x"), ("x", None));
    }

    #[test]
    fn what_is_broken_is_named() {
        assert_eq!(items("a)"), Err(GrammarError::Closes));
        assert_eq!(items("(a"), Err(GrammarError::Open));
        assert_eq!(items("\"a"), Err(GrammarError::Quote));
        assert_eq!(items(&"(".repeat(20)), Err(GrammarError::Deep));
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
        for value in ["a,b.csv", "x(1", "a.csv", "two-cab(torus:4x4,p=2)"] {
            assert_eq!(pair(&format!("path={}", quoted(value))), (Some("path"), value));
        }
    }

    #[test]
    fn brackets_wrap_names() {
        assert_eq!(wrapped("two-cab(torus:4x4)"), Some(("two-cab", "torus:4x4")));
        assert_eq!(wrapped("links=5%,seed=1(a(b),c)"), Some(("links=5%,seed=1", "a(b),c")));
        assert_eq!(wrapped("(mesh:4)"), Some(("", "mesh:4")));
        assert_eq!(wrapped("f=(a),g=1(b)"), Some(("f=(a),g=1", "b")));
        for text in ["mesh:4", "", "a(b", "a)b(", "a(b)c"] {
            assert_eq!(wrapped(text), None, "{text}");
        }
    }

    #[test]
    fn lists_of_names_keep_the_items_of_each() {
        let text = "random-permutation:seed=1,bits=3, hotspot:nodes=1,5,uniform";
        assert_eq!(names(text).expect("names"), ["random-permutation:seed=1,bits=3", "hotspot:nodes=1,5", "uniform"]);
        assert_eq!(names("cost,saturation.uniform,power").expect("names"), ["cost", "saturation.uniform", "power"]);
        assert_eq!(
            names("makespan.a:b=1,saturation.uniform").expect("names"),
            ["makespan.a:b=1", "saturation.uniform"]
        );
        assert_eq!(names("a,b:c=1,d=2,e:f=3").expect("names"), ["a", "b:c=1,d=2", "e:f=3"]);
        assert_eq!(
            names("goal:a,b.goal,ranks=2,x:y/z,w/v,u").expect("names"),
            ["goal:a,b.goal,ranks=2", "x:y/z,w/v", "u"]
        );
        for text in ["", "a,,b", "a,", "a(b"] {
            assert_eq!(names(text), None, "{text}");
        }
    }
}
