//! Files of rows of numbers between commas: traffic that is given, not drawn.

use std::fs::File;
use std::io::{BufRead, BufReader};

use super::keys::Request;
use crate::error::{Error, Result};
use crate::topology::available_memory;

/// What the columns of a file are called; those behind the first `needed` may be left out.
pub(super) struct Columns {
    pub names: &'static [&'static str],
    pub needed: usize,
}

/// A row of a file, and where it stands.
pub(super) struct Row<'a> {
    request: &'a Request<'a>,
    columns: &'a Columns,
    line: usize,
    fields: Vec<&'a str>,
}

/// Hands every row of the request's file to `each`. Empty lines, lines that begin with `#` and a first line of the
/// columns' names are passed over.
///
/// # Errors
/// A file that cannot be read, a row with too few or too many columns, and what `each` refuses, with the line.
pub(super) fn rows(request: &Request, columns: &Columns, mut each: impl FnMut(&Row) -> Result<()>) -> Result<()> {
    let path = request.argument();
    let unreadable = |error: std::io::Error| request.mistake(format_args!("{path}: {error}"));
    let file = File::open(path).map_err(unreadable)?;
    // A row takes about as much memory as its text; sorting takes as much again.
    let (bytes, available) = (file.metadata().map_err(unreadable)?.len(), available_memory());
    if u128::from(bytes) * 3 > available {
        return Err(Error::TooLarge(format!("{path} has {bytes} bytes; {available} bytes of memory are available")));
    }
    let file = BufReader::new(file);
    let mut first = true;
    for (line, text) in (1..).zip(file.lines()) {
        let text = text.map_err(unreadable)?;
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let row = Row { request, columns, line, fields: text.split(',').map(str::trim).collect() };
        if !std::mem::take(&mut first) || row.fields[0] != columns.names[0] {
            row.check_columns()?;
            each(&row)?;
        } else if !columns.names.starts_with(&row.fields) || row.fields.len() < columns.needed {
            return Err(row.mistake(format_args!("the columns are {text}; they must be {}", columns.names.join(","))));
        }
    }
    Ok(())
}

impl Row<'_> {
    /// A mistake in this row, as the rest of a sentence.
    pub fn mistake(&self, what: impl std::fmt::Display) -> crate::Error {
        self.request.mistake(format_args!("{}, line {}: {what}", self.request.argument(), self.line))
    }

    fn check_columns(&self) -> Result<()> {
        let (given, most) = (self.fields.len(), self.columns.names.len());
        if (self.columns.needed..=most).contains(&given) {
            return Ok(());
        }
        let wanted = self.columns.names.join(",");
        Err(self.mistake(format_args!("{given} columns; there must be {wanted}")))
    }

    /// A whole number from `least` to `most`.
    pub fn number(&self, column: usize, least: u32, most: u32) -> Result<u32> {
        let (name, text) = (self.columns.names[column], self.fields[column]);
        text.parse().ok().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            self.mistake(format_args!("{name} is '{text}'; it must be a whole number from {least} to {most}"))
        })
    }

    /// The id of a terminal.
    pub fn terminal(&self, column: usize) -> Result<u32> {
        self.number(column, 0, self.request.terminals - 1)
    }

    /// A number from 0 up, of which any number can be added up; `None` if the column is left out.
    pub fn weight(&self, column: usize) -> Result<Option<f64>> {
        let Some(text) = self.fields.get(column) else { return Ok(None) };
        let weight = text.parse::<f64>().ok().filter(|weight| (0.0..=1e100).contains(weight));
        weight.map(Some).ok_or_else(|| {
            let name = self.columns.names[column];
            self.mistake(format_args!("{name} is '{text}'; it must be a number from 0 to 1e100"))
        })
    }
}
