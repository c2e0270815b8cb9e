//! The one error type of the engine: every variant is a sentence that states what, where and what is allowed.

use std::borrow::Cow;
use std::fmt::Display;

/// What can go wrong on the user's side. In Python each variant is a `TopoloomError` (a `ValueError`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A network spec that does not parse, or whose parameters are not allowed.
    #[error("{}", concise(.0))]
    Spec(String),
    /// A network, or a run on it, that is too large for this machine.
    #[error("{}", concise(.0))]
    TooLarge(String),
    /// A routing that does not exist, is not offered by a network, or is not safe with the VCs at hand.
    #[error("{}", concise(.0))]
    Routing(String),
    /// A traffic pattern that does not exist or has no meaning on a network.
    #[error("{}", concise(.0))]
    Traffic(String),
    /// An application that does not exist, a schedule that cannot be read, or a mapping that does not fit a network.
    #[error("{}", concise(.0))]
    Workload(String),
    /// An engine option out of its range.
    #[error("{}", concise(.0))]
    Config(String),
}

/// The engine's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// A sentence that quotes what users gave, of a length that can be read, on one line: the middle of long words is left
/// out, then that of the whole, so that what was wrong and what is allowed both stay. What is not printed as
/// itself is escaped: it could move the terminal's cursor, or turn the sentence around.
pub fn concise(sentence: &str) -> Cow<'_, str> {
    /// The most characters of a word, such as a spec or a path, and what is kept of a longer one.
    const WORD: Length = Length { most: 300, head: 200, tail: 60 };
    /// The same for a sentence.
    const SENTENCE: Length = Length { most: 1_200, head: 700, tail: 400 };
    let long = |word: &str| word.len() > WORD.most && word.chars().count() > WORD.most;
    let plain = sentence.chars().all(is_plain);
    if sentence.len() <= SENTENCE.most && plain && !sentence.split(' ').any(long) {
        return Cow::Borrowed(sentence);
    }
    let words: Vec<Cow<'_, str>> = sentence.split(' ').map(|word| WORD.cut(word)).collect();
    let text = SENTENCE.cut(&words.join(" ")).into_owned();
    let shown = |c: char| if is_plain(c) { c.to_string() } else { c.escape_debug().collect() };
    Cow::Owned(if plain { text } else { text.chars().map(shown).collect() })
}

/// True for what is printed as itself: no control character, and none that changes the direction of writing.
fn is_plain(c: char) -> bool {
    c.is_ascii_graphic() || c == ' ' || c.escape_debug().len() == 1
}

/// How long a text may be, in characters, and how much of a longer one is kept.
struct Length {
    most: usize,
    head: usize,
    tail: usize,
}

impl Length {
    fn cut<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if text.len() <= self.most || text.chars().nth(self.most).is_none() {
            return Cow::Borrowed(text);
        }
        let end = text.char_indices().nth(self.head).map_or(text.len(), |(end, _)| end);
        let start = text.char_indices().nth_back(self.tail - 1).map_or(0, |(start, _)| start);
        Cow::Owned(format!("{}…{}", &text[..end], &text[start..]))
    }
}

/// Why a file cannot be read, without the number that the operating system has for it.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}

/// A number of things in a sentence: "1 router", "4 routers".
pub fn several(number: impl Display, noun: &str) -> String {
    let text = number.to_string();
    let ending = if text == "1" { "" } else { "s" };
    format!("{text} {noun}{ending}")
}

/// "unknown KIND 'NAME' (did you mean 'NEAR'?); there are: A, B, C", for a name that is not in `known`.
pub fn unknown<S: AsRef<str>>(kind: impl Display, name: &str, known: impl IntoIterator<Item = S>) -> String {
    let known: Vec<String> = known.into_iter().map(|k| k.as_ref().to_owned()).collect();
    let near = known
        .iter()
        .map(|k| (strsim::damerau_levenshtein(name, k), k))
        .filter(|(distance, k)| *distance <= 2.max(k.len() / 3))
        .min_by_key(|(distance, _)| *distance);
    let hint = near.map_or(String::new(), |(_, k)| format!(" (did you mean '{k}'?)"));
    format!("unknown {kind} '{name}'{hint}; there are: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::{Error, several, unknown};

    #[test]
    fn long_input_is_quoted_in_part() {
        let told = |sentence: String| Error::Spec(sentence).to_string();
        assert_eq!(told("p is 'é'".to_owned()), "p is 'é'");
        let word = told(format!("mesh:4: p is '{}'; it must be a number", "é".repeat(100_000)));
        assert!(word.starts_with("mesh:4: p is 'éé") && word.ends_with("éé'; it must be a number"), "{word}");
        assert!(word.chars().count() < 300, "{word}");
        let words = told(format!("p is '{}'; it must be a number", "a b ".repeat(100_000)));
        assert!(words.starts_with("p is 'a b") && words.ends_with("it must be a number"), "{words}");
        assert!(words.chars().count() < 1_200, "{words}");
        assert_eq!(told("p is 'a\nb\u{1b}[2J\u{202e}'".to_owned()), "p is 'a\\nb\\u{1b}[2J\\u{202e}'");
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([0, 1, 2].map(|number| several(number, "router")), ["0 routers", "1 router", "2 routers"]);
        assert_eq!([several(0.5, "unit"), several(1.0, "unit")], ["0.5 units", "1 unit"]);
    }

    #[test]
    fn a_typo_gets_its_nearest_name() {
        assert_eq!(
            unknown("family", "tours", ["mesh", "torus"]),
            "unknown family 'tours' (did you mean 'torus'?); there are: mesh, torus"
        );
        assert_eq!(unknown("family", "xyzzy", ["mesh"]), "unknown family 'xyzzy'; there are: mesh");
    }
}
