//! Files that users name. Everything that reads one does it here, so that a test can compare what was read with what
//! names state beforehand (see [`crate::names`]).

use std::fs::{self, File};
use std::io::Read;

use crate::error::reason;
use crate::memory::available_memory;

/// Bytes of memory that a byte of a file may cost where all of it is read and taken apart.
const COST: u128 = 12;

/// What is in front of the text in some files.
pub(crate) const BYTE_ORDER_MARK: char = '\u{feff}';

/// Opens a file that a user names, of which every byte costs `cost` bytes of memory. Only regular files that fit are
/// opened: a device such as `/dev/zero` never ends, and a pipe waits for a writer that may never come. The error is the
/// rest of a sentence that begins with the file's name and a colon.
pub(crate) fn open(path: &str, cost: u128) -> std::result::Result<File, String> {
    #[cfg(test)]
    noted::note(path);
    let unreadable = |error: std::io::Error| reason(&error);
    let about = fs::metadata(path).map_err(unreadable)?;
    if about.is_dir() {
        return Err("it is a folder; a file is read here".to_owned());
    }
    if !about.is_file() {
        return Err("it is no regular file; pipes and devices are not read".to_owned());
    }
    let (bytes, available) = (u128::from(about.len()), available_memory());
    if bytes.saturating_mul(cost) > available {
        let [bytes, available] = [bytes, available].map(|bytes| bytes / 1_000_000);
        return Err(format!("it has {bytes} MB, too many to read with {available} MB of memory available"));
    }
    File::open(path).map_err(unreadable)
}

/// The bytes of a file that a user names; the error as of [`open`].
pub(crate) fn read(path: &str) -> std::result::Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    open(path, COST)?.read_to_end(&mut bytes).map_err(|error| reason(&error))?;
    Ok(bytes)
}

/// The text of a file that a user names; the error as of [`open`].
pub(crate) fn read_text(path: &str) -> std::result::Result<String, String> {
    text(&read(path)?).map(str::to_owned).map_err(|_| "it is no text in UTF-8".to_owned())
}

/// The text of a file with these bytes, without the mark of its byte order, which some editors write in front of it. The
/// error is the first line that is no text in UTF-8.
pub(crate) fn text(bytes: &[u8]) -> std::result::Result<&str, usize> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| 1 + bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count())?;
    Ok(text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text))
}

/// What was read, for tests.
#[cfg(test)]
pub(crate) mod noted {
    use std::sync::Mutex;

    /// The paths that were read, by all tests.
    static READ: Mutex<Vec<String>> = Mutex::new(Vec::new());

    pub(super) fn note(path: &str) {
        READ.lock().expect("no thread panics with it").push(path.to_owned());
    }

    pub(crate) fn forget(path: &str) {
        READ.lock().expect("no thread panics with it").retain(|known| known != path);
    }

    pub(crate) fn was_read(path: &str) -> bool {
        READ.lock().expect("no thread panics with it").iter().any(|known| known == path)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// What else reads a file would be unknown to keys of results; `memory.rs` reads the system's own.
    #[test]
    fn files_are_read_here_alone() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("sources") {
                let path = entry.expect("readable").path();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.ends_with("inputs.rs") && !path.ends_with("memory.rs") {
                    let text = fs::read_to_string(&path).expect("text");
                    let code = text.split("#[cfg(test)]\nmod tests {").next().expect("some");
                    for (number, line) in (1..).zip(code.lines().map(str::trim_start)) {
                        let reads = ["File::open", "fs::read", "OpenOptions"].iter().any(|call| line.contains(call));
                        let own = line.contains("\"/proc/") || line.contains("\"/sys/") || line.starts_with("//");
                        assert!(!reads || own, "{}, line {number}: {line}", path.display());
                    }
                }
            }
        }
    }
}
