//! Files of rows of numbers between commas: traffic and messages that are given, not drawn.

use std::io::{BufRead, BufReader};

use crate::catalogue::Arguments;
use crate::catalogue::values::bytes;
use crate::error::{Error, Result, reason, several};
use crate::inputs;

/// What the columns of a file are called; those behind the first `needed` may be left out.
pub(crate) struct Columns {
    pub names: &'static [&'static str],
    pub needed: usize,
}

/// A row of a file, and where it stands.
pub(crate) struct Row<'a> {
    file: &'a Arguments<'a>,
    terminals: u32,
    columns: &'a Columns,
    line: usize,
    fields: Vec<&'a str>,
}

/// Hands every row of the file that `file` names to `each`, and returns their number; ids of terminals are below `terminals`. Empty lines, lines that begin with `#` and a first line of the
/// columns' names are passed over.
///
/// # Errors
/// A file that cannot be read, a row with too few or too many columns, and what `each` rejects, with the line.
pub(crate) fn rows(
    file: &Arguments,
    terminals: u32,
    columns: &Columns,
    mut each: impl FnMut(&Row) -> Result<()>,
) -> Result<usize> {
    /// A row takes about as much memory as its text; sorting takes as much again.
    const COST: u128 = 3;
    let path = file.lead();
    let unreadable = |error: std::io::Error| file.mistake(format_args!("{path}: {}", reason(&error)));
    let opened = inputs::open(path, COST).map_err(|why| file.unreadable(path, why))?;
    let lines = BufReader::new(opened).lines();
    let (mut first, mut found) = (true, 0);
    for (line, text) in (1..).zip(lines) {
        let text = text.map_err(unreadable)?;
        let text = text.trim_start_matches(inputs::BYTE_ORDER_MARK).trim();
        if text.is_empty() || text.starts_with('#') {
            continue;
        }
        let row = Row { file, terminals, columns, line, fields: text.split(',').map(str::trim).collect() };
        if !std::mem::take(&mut first) || row.fields[0] != columns.names[0] {
            row.check_columns()?;
            each(&row)?;
            found += 1;
        } else if !columns.names.starts_with(&row.fields) || row.fields.len() < columns.needed {
            return Err(row.mistake(format_args!("the columns are {text}; they must be {}", columns.names.join(","))));
        }
    }
    Ok(found)
}

/// As [`rows`] of a file that must have one at least.
///
/// # Errors
/// As [`rows`], and a file without rows.
pub(crate) fn some_rows(
    file: &Arguments,
    terminals: u32,
    columns: &Columns,
    each: impl FnMut(&Row) -> Result<()>,
) -> Result<()> {
    if rows(file, terminals, columns, each)? > 0 {
        return Ok(());
    }
    let (path, wanted) = (file.lead(), columns.names.join(","));
    Err(file.mistake(format_args!("{path} has no rows; each row must be {wanted}")))
}

impl Row<'_> {
    /// A mistake in this row, as the rest of a sentence.
    pub fn mistake(&self, what: impl std::fmt::Display) -> Error {
        self.file.mistake(format_args!("{}, line {}: {what}", self.file.lead(), self.line))
    }

    fn check_columns(&self) -> Result<()> {
        let (given, most) = (self.fields.len(), self.columns.names.len());
        if (self.columns.needed..=most).contains(&given) {
            return Ok(());
        }
        let wanted = self.columns.names.join(",");
        Err(self.mistake(format_args!("{}; there must be {wanted}", several(given, "column"))))
    }

    /// A whole number from `least` to `most`.
    pub fn number(&self, column: usize, least: u32, most: u32) -> Result<u32> {
        let (name, text) = (self.columns.names[column], self.fields[column]);
        text.parse().ok().filter(|number| (least..=most).contains(number)).ok_or_else(|| {
            self.mistake(format_args!("{name} is '{text}'; it must be a whole number from {least} to {most}"))
        })
    }

    /// Where the row stands: its line, from 1 on.
    pub fn line(&self) -> usize {
        self.line
    }

    /// A number of bytes, one at least.
    pub fn bytes(&self, column: usize) -> Result<u64> {
        let (name, text) = (self.columns.names[column], self.fields[column]);
        bytes(text)
            .ok_or_else(|| self.mistake(format_args!("{name} is '{text}'; it must be a number of bytes from 1 up")))
    }

    /// Whole numbers with blanks between them; none if the column is left out.
    pub fn list(&self, column: usize) -> Result<Vec<u32>> {
        let text = self.fields.get(column).copied().unwrap_or_default();
        let read = text.split_whitespace().map(str::parse::<u32>).collect::<std::result::Result<_, _>>();
        read.map_err(|_| {
            let name = self.columns.names[column];
            self.mistake(format_args!("{name} is '{text}'; it must be whole numbers with blanks between them"))
        })
    }

    /// The id of a terminal.
    pub fn terminal(&self, column: usize) -> Result<u32> {
        self.number(column, 0, self.terminals - 1)
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
