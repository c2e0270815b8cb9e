//! The one error type of the engine: every variant is a sentence that says what, where and what is allowed.

use std::fmt::Display;

/// What can go wrong on the user's side. In Python each variant is a `TopoloomError` (a `ValueError`).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// A network spec that does not parse, or whose parameters are not allowed.
    #[error("{0}")]
    Spec(String),
    /// A network, or a run on it, that is too large for this machine.
    #[error("{0}")]
    TooLarge(String),
    /// A routing that does not exist, is not offered by a network, or is not safe with the VCs at hand.
    #[error("{0}")]
    Routing(String),
    /// A traffic pattern that does not exist or has no meaning on a network.
    #[error("{0}")]
    Traffic(String),
    /// An application that does not exist, a schedule that cannot be read, or a mapping that does not fit a network.
    #[error("{0}")]
    Workload(String),
    /// An engine option out of its range.
    #[error("{0}")]
    Config(String),
}

/// The engine's result type.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a file cannot be read, without the number that the operating system has for it.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
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
    use super::unknown;

    #[test]
    fn a_typo_gets_its_nearest_name() {
        assert_eq!(
            unknown("family", "tours", ["mesh", "torus"]),
            "unknown family 'tours' (did you mean 'torus'?); there are: mesh, torus"
        );
        assert_eq!(unknown("family", "xyzzy", ["mesh"]), "unknown family 'xyzzy'; there are: mesh");
    }
}
