//! Comments of documentation, as Python has them.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

/// Columns of a line.
const WIDTH: usize = 120;

/// The documentation of an item, a paragraph each.
pub fn of(attributes: &[Attribute]) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    for line in attributes.iter().filter_map(line) {
        let line = line.trim();
        let last = paragraphs.last_mut().expect("there is always one");
        match (line.is_empty(), last.is_empty()) {
            (true, false) => paragraphs.push(String::new()),
            (true, true) => {}
            (false, true) => last.push_str(line),
            (false, false) => *last = format!("{last} {line}"),
        }
    }
    paragraphs.retain(|paragraph| !paragraph.is_empty());
    paragraphs.iter().map(|paragraph| marked_up(paragraph)).collect()
}

fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if pair.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// Links to items as plain code, and code between two backquotes.
fn marked_up(text: &str) -> String {
    text.replace("[`", "`").replace("`]", "`").replace('`', "``")
}

/// A text that begins with a capital.
pub fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Text in lines that begin with `indent`, and with `hanging` spaces more from the second line on.
pub fn wrapped(text: &str, indent: usize, hanging: usize) -> String {
    let mut lines = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always one");
        if line.trim().is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= WIDTH {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(" ".repeat(indent + hanging) + word);
        }
    }
    lines.join("\n")
}

/// A docstring at a depth of indentation: the paragraphs, and the text below them.
pub fn docstring(paragraphs: &[String], below: &str, indent: usize) -> String {
    let margin = " ".repeat(indent);
    let paragraphs: Vec<String> = paragraphs.iter().map(|paragraph| wrapped(paragraph, indent, 0)).collect();
    let text = paragraphs.join("\n\n");
    let text = text.trim_start();
    // Room for the quotes.
    let quoted = text.starts_with('"') || text.ends_with('"');
    if below.is_empty() && !quoted && !text.contains('\n') && margin.len() + text.chars().count() + 6 <= WIDTH {
        return format!("{margin}\"\"\"{text}\"\"\"\n");
    }
    format!("{margin}\"\"\"\n{margin}{text}\n{below}{margin}\"\"\"\n")
}
