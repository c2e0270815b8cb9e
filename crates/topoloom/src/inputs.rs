//! Files that users name. Everything that reads one does it here, so that a test can compare what was read with what
//! [`files_of`] says beforehand.

use std::fs::{self, File};
use std::io::Read;

use crate::error::{Error, Result, reason, unknown};
use crate::layout::{Packing, Rules};
use crate::memory::available_memory;
use crate::{routing, topology, traffic, workload};

/// What a text can be the name of, and the files that such a name reads.
type Grammar = (&'static str, fn(&str) -> Vec<String>);

/// Every kind of name, with the parser that knows which files it reads.
const GRAMMARS: &[Grammar] = &[
    ("topology", topology::files),
    ("routing", routing::files),
    ("traffic", traffic::files),
    ("app", workload::files),
    ("layout", |text| Rules::parse(text).map_or_else(|_| Vec::new(), |rules| rules.cabinet.files())),
    ("cabinet", |text| Packing::parse(text).map_or_else(|_| Vec::new(), |packing| packing.files())),
    ("file", |path| vec![path.to_owned()]),
];

/// The paths of the files that `name`, a name of the kind `what`, reads, in the order in which they stand in it. A name
/// that does not parse reads none.
///
/// # Errors
/// [`Error::Config`] if there are no names of such a kind.
pub fn files_of(what: &str, name: &str) -> Result<Vec<String>> {
    let grammar = GRAMMARS.iter().find(|(known, _)| *known == what);
    let known = || GRAMMARS.iter().map(|(known, _)| *known);
    grammar.map(|(_, files)| files(name)).ok_or_else(|| Error::Config(unknown("kind of name", what, known())))
}

/// Bytes of memory that a byte of a file may cost where all of it is read and taken apart.
const COST: u128 = 12;

/// Opens a file that a user names, of which every byte costs `cost` bytes of memory. Only regular files that fit are
/// opened: a device such as `/dev/zero` never ends, and a pipe waits for a writer that may never come. The error is the
/// rest of a sentence that begins with the file's name and a colon.
pub(crate) fn open(path: &str, cost: u128) -> std::result::Result<File, String> {
    #[cfg(test)]
    tests::note(path);
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
    String::from_utf8(read(path)?).map_err(|_| "it is no text in UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Mutex;

    use super::*;
    use crate::layout::{LAYOUT_KEYS, Layout};
    use crate::routing::ROUTINGS;
    use crate::topology::FAMILIES;
    use crate::traffic::PATTERNS;
    use crate::workload::{APPS, MAPPINGS, Mapping};

    /// The paths that were read, by all tests.
    static READ: Mutex<Vec<String>> = Mutex::new(Vec::new());

    pub(super) fn note(path: &str) {
        READ.lock().expect("no thread panics with it").push(path.to_owned());
    }

    /// Endings by which names of files are told from other values.
    const ENDINGS: [&str; 4] = ["csv", "edges", "json", "txt"];

    /// Uses a name made of `shape`, in which `{}` is the path of a file, once for each ending; returns how many of
    /// the files were read.
    fn read_by(what: &str, shape: &str, folder: &Path, apply: impl Fn(&str)) -> usize {
        let mut found = 0;
        for ending in ENDINGS {
            let path = folder.join(format!("{}.{ending}", shape.len()));
            fs::write(&path, "0,1\n").expect("writable");
            let path = path.to_str().expect("text");
            let name = shape.replace("{}", path);
            READ.lock().expect("no thread panics with it").retain(|known| known != path);
            apply(&name);
            if READ.lock().expect("no thread panics with it").iter().any(|known| known == path) {
                assert_eq!(files_of(what, &name).expect("a kind"), [path], "{what} {name} reads a file unsaid");
                found += 1;
            }
        }
        found
    }

    /// All ways to write `name` with a path as its argument, as the value of one of its keys, or both.
    fn shapes<'a>(name: &str, keys: impl IntoIterator<Item = &'a str>) -> Vec<String> {
        let keys: Vec<&str> = keys.into_iter().collect();
        let own = keys.iter().map(|key| format!("{name}{key}={{}}"));
        [format!("{name}{{}}")].into_iter().chain(own).collect()
    }

    /// The spec `example` with a path as the value of `key`, in the place of the value that it has.
    fn with_key(example: &str, key: &str) -> String {
        let own = format!("{key}=");
        let kept: Vec<&str> = example.split(',').filter(|item| !item.starts_with(&own)).collect();
        format!("{},{own}{{}}", kept.join(","))
    }

    #[test]
    fn every_name_says_which_files_it_reads() {
        let folder = std::env::temp_dir().join(format!("topoloom-inputs-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("writable");
        let network = topology::build("mesh:4x4").expect("small");
        let mut found = Vec::new();
        let mut walk = |what: &str, name: &str, shapes: Vec<String>, apply: &dyn Fn(&str)| {
            if shapes.iter().any(|shape| read_by(what, shape, &folder, apply) > 0) {
                found.push(format!("{what} {name}"));
            }
        };
        for family in FAMILIES {
            let begun = shapes(&format!("{}:", family.name), []);
            let keyed = family.keys.iter().map(|key| with_key(family.example, key.name));
            walk("topology", family.name, begun.into_iter().chain(keyed).collect(), &|spec| {
                drop(topology::build(spec));
            });
        }
        for routing in ROUTINGS {
            let shapes = shapes(&format!("{}:", routing.name), routing.keys.iter().map(|key| key.0));
            walk("routing", routing.name, shapes, &|name| drop(routing::build(&network, name)));
        }
        for pattern in PATTERNS {
            let shapes = shapes(&format!("{}:", pattern.name), pattern.keys.iter().map(|key| key.0));
            walk("traffic", pattern.name, shapes, &|name| drop(traffic::build(&network, name)));
        }
        for app in APPS {
            let shapes = shapes(&format!("{}:", app.name), app.keys.iter().map(|key| key.0));
            walk("app", app.name, shapes, &|name| drop(workload::build(name, 16)));
        }
        let played = workload::build("allreduce", 16).expect("fits");
        for mapping in MAPPINGS {
            let shapes = shapes(&format!("{}:", mapping.name), mapping.keys.iter().map(|key| key.0));
            walk("mapping", mapping.name, shapes, &|name| drop(Mapping::new(name, &played, &network)));
        }
        let rules = |text: &str| drop(Rules::parse(text).and_then(|rules| Layout::new(&network, &rules)));
        walk("layout", "layout", shapes("", LAYOUT_KEYS.iter().map(|key| key.name)), &rules);
        let packing = |text: &str| drop(Packing::parse(text).and_then(|packing| packing.cabinets(&network)));
        walk("cabinet", "cabinet", shapes("", []), &packing);
        fs::remove_dir_all(&folder).expect("ours");
        let known = [
            "topology permuted",
            "topology file",
            "routing table",
            "traffic pairs",
            "traffic trace",
            "app goal",
            "app messages",
            "layout layout",
            "cabinet cabinet",
        ];
        assert_eq!(found, known);
    }

    #[test]
    fn names_may_hold_commas_brackets_and_networks() {
        let read = |what: &str, name: &str| files_of(what, name).expect("a kind");
        assert_eq!(read("traffic", "trace:run(1),a=b.csv"), ["run(1),a=b.csv"]);
        assert_eq!(read("routing", "table:a,b.csv"), ["a,b.csv"]);
        assert_eq!(read("app", "goal:a:b.goal"), ["a:b.goal"]);
        assert_eq!(read("topology", " file: x(1).csv ,p=2 --fail links=5%"), ["x(1).csv"]);
        assert_eq!(
            read("topology", "permuted:two-cab(permuted:three-cab(file:a.csv,p=1),cabinet=b.csv),cabinet=c.csv,seed=2"),
            ["a.csv", "b.csv", "c.csv"]
        );
        assert_eq!(
            read("topology", "file:a.csv,as=(permuted:two-cab(file:b.csv,as=(mesh:4)),cabinet=c.csv),p=1"),
            ["b.csv", "c.csv", "a.csv"]
        );
        assert_eq!(read("layout", "permutation,place=anneal,nodes=4"), [""; 0]);
        for (what, name) in [("topology", "mesh:cabinet=x.csv"), ("routing", "table:"), ("routing", "table:@0123")] {
            assert_eq!(read(what, name), [""; 0], "{name}");
        }
        let nested = |depth: usize| format!("{}file:a.csv{}", "permuted:two-cab(".repeat(depth), ")".repeat(depth));
        assert_eq!(read("topology", &nested(10)), ["a.csv"]);
        assert_eq!(read("topology", &nested(2_000)), [""; 0], "too deep to be built");
        assert!(files_of("topolgy", "mesh:4").expect_err("no kind").to_string().contains("did you mean 'topology'"));
    }

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
