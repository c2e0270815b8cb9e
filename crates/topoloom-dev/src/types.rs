//! Parts of Rust's types.

use syn::{GenericArgument, PathArguments, PathSegment, Type};

/// The last segment of the path of a type.
pub fn last(of: &Type) -> Option<&PathSegment> {
    match of {
        Type::Path(path) => path.path.segments.last(),
        Type::Group(group) => last(&group.elem),
        _ => None,
    }
}

/// The types between the angle brackets of a path.
pub fn arguments(segment: &PathSegment) -> Vec<&Type> {
    let PathArguments::AngleBracketed(between) = &segment.arguments else { return Vec::new() };
    let types = between.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(own) => Some(own),
        _ => None,
    });
    types.collect()
}

/// Words of Python that no attribute can be called.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del",
    "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal",
    "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The attribute that stands for a key: with an underscore behind it if that is a word of Python, or `taken`.
pub fn attribute_name(key: &str, taken: &[&str]) -> String {
    if KEYWORDS.contains(&key) || taken.contains(&key) { format!("{key}_") } else { key.to_owned() }
}

/// Python's type of a plain type of Rust.
pub fn plain(name: &str) -> Option<&'static str> {
    match name {
        "str" | "String" => Some("str"),
        "bool" => Some("bool"),
        "PyBytes" => Some("bytes"),
        "f32" | "f64" => Some("float"),
        "u8" | "u16" | "u32" | "u64" | "u128" | "usize" | "i8" | "i16" | "i32" | "i64" | "i128" | "isize" => {
            Some("int")
        }
        _ => None,
    }
}
