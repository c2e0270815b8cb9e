//! Tables as people write them: fields between commas, blank lines, and comments, which are lines that begin with `#`.

/// A row of a table.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    /// The line of the file on which it begins, from 1.
    pub line: usize,
    /// Its fields, without the blanks around them.
    pub fields: csv::StringRecord,
}

impl Row {
    /// A field; nothing where the row is too short.
    pub fn field(&self, place: usize) -> &str {
        self.fields.get(place).unwrap_or("")
    }
}

/// The rows of a table, one by one; rows of any number of fields, those that hold anything.
pub(crate) struct Rows<'a> {
    text: &'a str,
    reader: csv::Reader<&'a [u8]>,
    /// How far lines are counted: the byte, and the line that it is on.
    at: usize,
    line: usize,
    /// The lines that are comments, of as much as was read, with the number of commas in each.
    pub comments: Vec<(usize, usize)>,
}

impl<'a> Rows<'a> {
    pub fn of(text: &'a str) -> Self {
        let text = text.trim_start_matches('\u{feff}');
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        Self { text, reader, at: 0, line: 1, comments: Vec::new() }
    }

    /// Counts lines up to a byte, from which on the reader passes over blank lines and comments, and then past these.
    fn count_lines(&mut self, byte: usize) {
        let bytes = self.text.as_bytes();
        self.line += bytes[self.at..byte].iter().filter(|&&byte| byte == b'\n').count();
        self.at = byte;
        while let Some(&byte @ (b'\r' | b'\n' | b'#')) = bytes.get(self.at) {
            let end = match byte {
                b'#' => self.text[self.at..].find('\n').map_or(bytes.len(), |length| self.at + length),
                _ => self.at + 1,
            };
            if byte == b'#' {
                self.comments.push((self.line, self.text[self.at..end].matches(',').count()));
            }
            self.line += usize::from(byte == b'\n');
            self.at = end;
        }
    }

    /// A sentence on comments that could have been rows of this many fields: a name may begin with `#`.
    pub fn note(&self, fields: usize) -> Option<String> {
        let likely: Vec<usize> =
            self.comments.iter().filter(|(_, commas)| commas + 1 >= fields).map(|&(line, _)| line).collect();
        let lines = match likely[..] {
            [] => return None,
            [line] => format!("line {line} begins with # and is a comment"),
            [first, ..] => {
                format!("{} lines, the first of them line {first}, begin with # and are comments", likely.len())
            }
        };
        Some(format!("{lines}; where a name begins with #, put it in quotes"))
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        loop {
            let begin = self.reader.position().byte() as usize;
            let mut fields = csv::StringRecord::new();
            let more = self.reader.read_record(&mut fields).expect("text in memory reads");
            self.count_lines(begin);
            if !more {
                return None;
            }
            if fields.iter().any(|field| !field.is_empty()) {
                return Some(Row { line: self.line, fields });
            }
        }
    }
}

/// What a column is called, as far as it matters: `switch_a`, `Switch A` and `switch-a` are the same.
pub(crate) fn heading(name: &str) -> String {
    name.trim().trim_matches('"').chars().filter(|c| !" _-".contains(*c)).flat_map(char::to_lowercase).collect()
}

/// Rows as text that [`Rows`] reads.
pub(crate) fn write<R: AsRef<[String]>>(rows: impl IntoIterator<Item = R>) -> String {
    let mut writer = csv::WriterBuilder::new().comment(Some(b'#')).from_writer(Vec::new());
    rows.into_iter().for_each(|row| writer.write_record(row.as_ref()).expect("memory takes it"));
    String::from_utf8(writer.into_inner().expect("memory takes it")).expect("names are text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_know_their_lines() {
        let text = "\u{feff}\n\n# a, comment\na,1\n\n , \n\"b\nc\",2\r\n\r\n#\r\n\"#d\",3\n\n# the last, one\n";
        let mut rows = Rows::of(text);
        let read: Vec<(usize, String)> = rows.by_ref().map(|row| (row.line, row.field(0).to_owned())).collect();
        assert_eq!(read, [(4, "a".to_owned()), (7, "b\nc".to_owned()), (11, "#d".to_owned())]);
        assert_eq!(rows.comments, [(3, 1), (10, 0), (13, 1)]);
        assert_eq!(rows.note(3), None);
        let note = rows.note(2).expect("two comments look like rows");
        assert!(note.starts_with("2 lines, the first of them line 3, begin with #"), "{note}");
    }

    #[test]
    fn what_is_written_is_read() {
        let row = ["#7", "a \"name\"", "x,y"].map(str::to_owned);
        let text = write([&row]);
        let read = Rows::of(&text).next().expect("a row");
        assert_eq!(read.fields.iter().collect::<Vec<_>>(), row);
    }
}
