//! Names and their keys: the one grammar of everything that users write in one word.
//!
//! A name is `head`, `head:rest`, or `head:sizes,key=value,…`: a topology, a routing, a traffic pattern, an application,
//! a mapping, a layout. Each is described by an [`Entry`]: the typed [`Key`]s that it takes, each with its one line of
//! documentation. [`grammar`] cuts a name into items, [`Arguments`] holds the values that were written, checked against the
//! types. Lists, help, errors with the nearest name and the JSON schema all read the same entries.

mod arguments;
mod entry;
pub mod grammar;
mod key;
mod name;
pub mod values;

pub use arguments::Arguments;
pub use entry::{Alone, BASE, Entry, FILE, Lead};
pub use key::{CabinetRule, FilePath, Key, Kind, is_table};
pub use name::Name;

use crate::error::{Error, Result, unknown};

/// The pairs of `key=value,…` behind an option of a command line, keys with underscores.
///
/// # Errors
/// [`Error::Config`] for an item without a value, and a key that is unknown or repeated.
pub fn pairs(option: &str, text: &str, keys: &[String]) -> Result<Vec<(String, String)>> {
    let mistake = |what: String| Error::Config(format!("{option}: {what}"));
    let mut pairs: Vec<(String, String)> = Vec::new();
    for item in grammar::items(text).map_err(|broken| mistake(broken.sentence()))? {
        let (Some(name), value) = grammar::pair(item) else {
            return Err(mistake(format!("'{item}' is not key=value")));
        };
        if value.is_empty() {
            return Err(mistake(format!("'{item}' is not key=value")));
        }
        let key = name.replace('-', "_");
        if !keys.contains(&key) {
            return Err(mistake(unknown("key", name, keys.iter().map(|known| known.replace('_', "-")))));
        }
        if pairs.iter().any(|(known, _)| *known == key) {
            return Err(mistake(format!("{name} is given twice")));
        }
        pairs.push((key, value.to_owned()));
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// What reads files that others have written, or the system's own: their texts are no names.
    const OTHERS: [&str; 8] = [
        "formats/",
        "memory.rs",
        "permute/list.rs",
        "routing/cardfile.rs",
        "routing/lft.rs",
        "routing/tables.rs",
        "rows.rs",
        "table.rs",
    ];

    /// True if a line of code cuts a text at what separates the parts of names.
    fn cuts(line: &str) -> bool {
        let methods = ["split(", "split_once(", "rsplit(", "rsplit_once(", "strip_prefix(", "strip_suffix(", "find("];
        let separators = ["':'", "'='", "','", "'('", "')'", "\":\"", "\"=\"", "\",\"", "\"(\"", "\")\"", "'x'", "'-'"];
        methods.iter().any(|method| {
            line.match_indices(method).any(|(at, _)| {
                let argument = &line[at + method.len()..];
                separators.iter().any(|separator| argument.starts_with(separator))
                    || argument.starts_with("[':")
                    || argument.starts_with("&[':")
            })
        })
    }

    #[test]
    fn names_are_cut_here_alone() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut folders = vec![sources.clone()];
        let mut found = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("sources") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(&sources).expect("within").to_str().expect("text").to_owned();
                if name.starts_with("catalogue/") || OTHERS.iter().any(|other| name.starts_with(other)) {
                    continue;
                }
                let text = fs::read_to_string(&path).expect("text");
                let code = text.split("#[cfg(test)]\nmod tests {").next().expect("some");
                found.extend(code.lines().filter(|line| cuts(line)).map(|line| format!("{name}: {}", line.trim())));
            }
        }
        assert_eq!(found, [""; 0]);
        assert!(cuts("let (name, rest) = text.split_once(':').unwrap();"));
        assert!(cuts("text.split_once([':', ','])"));
        assert!(!cuts("text.split('|'); text.split_at(4)"));
    }
}
