//! Every kind of name that users write, and its reader.
//!
//! Two texts with the same canonical text mean the same. Results are kept under canonical names and the digests of the
//! files that these read.

use sha2::{Digest, Sha256};

use crate::catalogue::grammar::split_head;
use crate::catalogue::{Arguments, Entry, Kind, Name};
use crate::error::{Error, Result, unknown};
use crate::layout::{self, Packing};
use crate::{flow, inputs, routing, topology, traffic, workload};

/// What a text can be the name of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A network, with its failures if a command line writes some behind it.
    Topology,
    /// A routing.
    Routing,
    /// A traffic pattern.
    Traffic,
    /// An application.
    App,
    /// A mapping of tasks to terminals.
    Mapping,
    /// A layout.
    Layout,
    /// Which cabinet each router is in.
    Cabinet,
    /// The options of the flow engine.
    Flow,
    /// A file that is read.
    File,
}

impl What {
    /// All, with their names.
    pub const ALL: &[(&str, Self)] = &[
        ("topology", Self::Topology),
        ("routing", Self::Routing),
        ("traffic", Self::Traffic),
        ("app", Self::App),
        ("mapping", Self::Mapping),
        ("layout", Self::Layout),
        ("cabinet", Self::Cabinet),
        ("flow", Self::Flow),
        ("file", Self::File),
    ];

    /// The kind of names that is called `name`.
    ///
    /// # Errors
    /// [`Error::Config`] if there are no names of such a kind.
    pub fn named(name: &str) -> Result<Self> {
        let found = Self::ALL.iter().find(|(known, _)| *known == name);
        let known = || Self::ALL.iter().map(|(known, _)| *known);
        found.map(|(_, what)| *what).ok_or_else(|| Error::Config(unknown("kind of name", name, known())))
    }

    /// Reads a name of this kind.
    ///
    /// # Errors
    /// Those of the owner of the name, for an unknown head, key or value.
    pub fn read(self, text: &str) -> Result<Name> {
        let text = text.trim();
        let entry: fn(&str) -> Result<Entry> = match self {
            Self::Topology => return topology::name(text),
            Self::Layout => return layout::name(text),
            Self::Cabinet => {
                Packing::parse(text)?;
                return Ok(Name::of_value(Kind::Cabinet, text));
            }
            Self::File => return Ok(Name::of_value(Kind::File, text)),
            Self::Flow => return Name::of(&Arguments::read(flow::ENTRY, flow::ENTRY.name, text)?, ""),
            Self::Routing => |head| Ok(routing::find(head)?.entry()),
            Self::Traffic => |head| Ok(traffic::find(head)?.entry()),
            Self::App => |head| Ok(workload::find(head)?.entry()),
            Self::Mapping => |head| Ok(workload::find_mapping(head)?.entry()),
        };
        let (head, rest) = split_head(text);
        let mut name = Name::of(&Arguments::read(entry(head)?, text, rest)?, head)?;
        if self == Self::Routing {
            name.files.retain(|path| !routing::in_memory(path));
        }
        Ok(name)
    }
}

/// The SHA-256 of a file, in hexadecimal digits; `None` if it is missing or no regular file, which its reader reports.
pub fn digest(path: &str) -> Option<String> {
    let mut file = inputs::open(path, 0).ok()?;
    let mut hash = Sha256::new();
    std::io::copy(&mut file, &mut hash).ok()?;
    Some(hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The paths of the files that `name`, a name of the kind `what`, reads, in the order in which they are in it. A name
/// that does not parse reads none.
///
/// # Errors
/// [`Error::Config`] if there are no names of such a kind.
pub fn files_of(what: &str, name: &str) -> Result<Vec<String>> {
    Ok(What::named(what)?.read(name).map(|name| name.files).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::inputs::noted::{forget, was_read};
    use crate::layout::{LAYOUT_KEYS, Layout, Rules};
    use crate::routing::ROUTINGS;
    use crate::topology::FAMILIES;
    use crate::traffic::PATTERNS;
    use crate::workload::{APPS, MAPPINGS, Mapping};

    /// File name endings that mark a value as the name of a file.
    const ENDINGS: [&str; 5] = ["csv", "edges", "json", "toml", "txt"];

    /// Uses a name made of `shape`, in which `{}` is the path of a file, once for each ending; returns how many of
    /// the files were read.
    fn read_by(what: &str, shape: &str, folder: &Path, apply: impl Fn(&str)) -> usize {
        let mut found = 0;
        for ending in ENDINGS {
            let path = folder.join(format!("{}.{ending}", shape.len()));
            fs::write(&path, "0,1\n").expect("writable");
            let path = path.to_str().expect("text");
            let name = shape.replace("{}", path);
            forget(path);
            apply(&name);
            if was_read(path) {
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
            let shapes = shapes(&format!("{}:", routing.name), routing.keys.iter().map(|key| key.name));
            walk("routing", routing.name, shapes, &|name| drop(routing::build(&network, name)));
        }
        for pattern in PATTERNS {
            let shapes = shapes(&format!("{}:", pattern.name), pattern.keys.iter().map(|key| key.name));
            walk("traffic", pattern.name, shapes, &|name| drop(traffic::build(&network, name)));
        }
        for app in APPS {
            let shapes = shapes(&format!("{}:", app.name), app.keys.iter().map(|key| key.name));
            walk("app", app.name, shapes, &|name| drop(workload::build(name, 16)));
        }
        let played = workload::build("allreduce", 16).expect("fits");
        for mapping in MAPPINGS {
            let shapes = shapes(&format!("{}:", mapping.name), mapping.keys.iter().map(|key| key.name));
            walk("mapping", mapping.name, shapes, &|name| drop(Mapping::new(name, &played, &network)));
        }
        let rules = |text: &str| drop(Rules::parse(text).and_then(|rules| Layout::new(&network, &rules)));
        walk("layout", "layout", shapes("", LAYOUT_KEYS.iter().map(|key| key.name)), &rules);
        let packing = |text: &str| drop(Packing::parse(text).and_then(|packing| packing.cabinets(&network)));
        walk("cabinet", "cabinet", shapes("", []), &packing);
        fs::remove_dir_all(&folder).expect("ours");
        let known = [
            "topology cluster",
            "topology machine",
            "topology permuted",
            "topology file",
            "routing table",
            "traffic pairs",
            "traffic trace",
            "app msccl",
            "app chakra",
            "app nccl",
            "app goal",
            "app messages",
            "mapping file",
            "layout layout",
            "cabinet cabinet",
        ];
        assert_eq!(found, known);
    }

    #[test]
    fn what_means_the_same_has_one_canonical_text() {
        let canonical = |what: &str, text: &str| What::named(what).expect("a kind").read(text).map(|n| n.canonical);
        for (what, text, expected) in [
            ("topology", "mesh:4x4,p=2", "mesh:4x4,p=2"),
            ("topology", " torus : 4x4, double=true , p=2 ", "torus:4x4,p=2,double=true"),
            ("topology", "fattree:levels=2,k=3", "fattree:k=3,levels=2"),
            (
                "topology",
                "permuted:two-cab( torus:4x4,double=true,p=2 ),seed=2,cabinet=4",
                "permuted:two-cab(torus:4x4,p=2,double=true),cabinet=4,seed=2",
            ),
            ("topology", "mesh:4x4 --fail seed=2,links=5%", "faulty:links=5%,seed=2(mesh:4x4)"),
            ("topology", "faulty:seed=2, links=5% (mesh:4x4,p=1)", "faulty:links=5%,seed=2(mesh:4x4,p=1)"),
            ("topology", "file:x(1.csv,as=(mesh:4),p=1", "file:x(1.csv,p=1,as=(mesh:4)"),
            ("topology", "file:\"a,b.csv\",p=1", "file:\"a,b.csv\",p=1"),
            ("topology", "file:path=a.csv", "file:a.csv"),
            ("routing", "dor:ties=plus,dateline=on", "dor:dateline=on,ties=plus"),
            ("routing", "min", "min"),
            ("traffic", "hotspot:share=0.5,nodes=1,5-7", "hotspot:nodes=1,5-7,share=0.5"),
            ("traffic", "uniform:exclude-self=true", "uniform:exclude-self"),
            ("traffic", "pairs:a,b=c.csv", "pairs:a,b=c.csv"),
            ("app", "halo:grid=4x4,open", "halo:grid=4x4,open"),
            ("layout", "rack:kw=20,units=48", "rack:units=48,kw=20"),
            ("layout", "width=1,cabinet=16", "cabinet=16,width=1"),
            ("layout", "rack", "rack"),
            ("layout", "", ""),
            ("mapping", "blocks:seed=2,size=4", "blocks:size=4,seed=2"),
        ] {
            let found = canonical(what, text).expect(text);
            assert_eq!(found, expected, "{text}");
            assert_eq!(canonical(what, &found).expect("reads"), found, "canonical text is its own");
        }
        for family in FAMILIES {
            assert_eq!(canonical("topology", family.example).expect("reads"), family.example);
        }
        for (what, text, words) in [
            ("topology", "mesh:4x4,q=1", "unknown key of mesh 'q'"),
            ("topology", "permuted:two-cab(tours:4x4)", "did you mean 'torus'"),
            ("topology", "mesh:4x4 --fail lnks=1", "did you mean 'links'"),
            ("traffic", "hotspt", "did you mean 'hotspot'"),
            ("layout", "racks:units=4", "did you mean 'rack'"),
        ] {
            let sentence = canonical(what, text).expect_err(text).to_string();
            assert!(sentence.contains(words), "{sentence}");
        }
    }

    #[test]
    fn names_may_hold_commas_brackets_and_networks() {
        let read = |what: &str, name: &str| files_of(what, name).expect("a kind");
        assert_eq!(read("traffic", "trace:run(1),a=b.csv"), ["run(1),a=b.csv"]);
        assert_eq!(read("routing", "table:a,b.csv"), ["a,b.csv"]);
        assert_eq!(read("app", "goal:a:b.goal"), ["a:b.goal"]);
        for app in ["goal", "chakra", "msccl", "nccl", "messages"] {
            assert_eq!(read("app", &format!("{app}:a,b(1).x")), ["a,b(1).x"], "{app}");
        }
        assert_eq!(read("mapping", "file:a,b.csv"), ["a,b.csv"]);
        assert_eq!(read("topology", "file:a,b.csv,p=2"), ["a,b.csv"]);
        assert_eq!(read("topology", " file: x(1).csv ,p=2 --fail links=5%"), ["x(1).csv"]);
        assert_eq!(
            read("topology", "permuted:two-cab(permuted:three-cab(file:a.csv,p=1),cabinet=b.csv),cabinet=c.csv,seed=2"),
            ["a.csv", "b.csv", "c.csv"]
        );
        assert_eq!(read("topology", "file:a.csv,as=(permuted:two-cab(mesh:4),cabinet=b.csv)"), ["b.csv", "a.csv"]);
        assert_eq!(read("topology", "faulty:links=1(file:a.csv)"), ["a.csv"]);
        assert_eq!(read("layout", "permutation,place=anneal,nodes=4"), [""; 0]);
        for (what, name) in [("topology", "mesh:cabinet=x.csv"), ("routing", "table:"), ("routing", "table:@0123")] {
            assert_eq!(read(what, name), [""; 0], "{name}");
        }
        let nested = |depth: usize| format!("{}file:a.csv{}", "permuted:two-cab(".repeat(depth), ")".repeat(depth));
        assert_eq!(read("topology", &nested(10)), ["a.csv"]);
        assert_eq!(read("topology", &nested(2_000)), [""; 0], "too deep to be built");
        assert!(files_of("topolgy", "mesh:4").expect_err("no kind").to_string().contains("did you mean 'topology'"));
    }
}
