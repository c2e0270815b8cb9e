//! Every format against itself; tests/test_files.py holds them against networkx.

use super::*;
use crate::topology::build;

/// The network that a reader makes of a text.
fn reread(format: &Format, text: &str) -> Network {
    let draft = format.read.expect("every format is read")(text.as_bytes()).expect("we wrote it");
    let origin = Origin { spec: "file:test".to_owned(), family: "file", sha256: sha256(text.as_bytes()) };
    draft.into_network(origin, None).expect("we wrote it")
}

#[test]
fn what_a_format_holds_comes_back() {
    for spec in ["mesh:4x3,p=2", "hyperx:3x3,trunk=2", "fattree:k=2,levels=3", "dragonfly:a=4,h=2,p=2", "mesh:1"] {
        let network = build(spec).expect(spec);
        for format in FORMATS {
            let (text, lost) = write(&network, format, &Timing::default()).expect("every format is written");
            if text.lines().count() < 2 && format.name == "csv" {
                continue; // A table has no place for a router without links.
            }
            let again = reread(format, &text);
            assert_eq!(again.num_routers(), network.num_routers(), "{spec} in {}", format.name);
            if lost.is_empty() {
                let (twice, _) = write(&again, format, &Timing::default()).expect("every format is written");
                let same = |text: &str| text.replace("file:test", spec);
                if ["csv", "graphml", "metis", "graph6"].contains(&format.name) {
                    assert_eq!(same(&twice), text, "{spec} in {}", format.name);
                }
                assert_eq!(again.num_terminals(), network.num_terminals(), "{spec} in {}", format.name);
                assert_eq!(again.links().len(), network.links().len(), "{spec} in {}", format.name);
            }
        }
    }
}

#[test]
fn what_is_lost_is_said() {
    let lost = |spec: &str, format: &str| {
        let network = build(spec).expect(spec);
        write(&network, named(format).expect(format), &Timing::default()).expect("written").1.join("")
    };
    assert_eq!(lost("mesh:3x3", "graph6"), "");
    assert!(lost("mesh:3x3,p=2", "edges").ends_with("the format edges has no place for terminals (read it with p=2)"));
    assert!(lost("fattree:k=2,levels=2", "graph6").contains("terminals (4 on 2 of the routers), classes of links"));
    assert!(lost("torus:2x2,double=true", "graph6").contains("parallel links (4 links are left out)"));
    assert!(lost("hyperx:2x2,tile=2x2", "csv").contains("the ids of terminals"));
    assert_eq!(lost("hyperx:2x2,tile=2x2", "anynet"), "");
    assert!(lost("mesh:1", "csv").contains("routers without links (1 are left out)"));
}

#[test]
fn an_ending_tells_the_format() {
    assert_eq!(of_path("a/b.GraphML", None).expect("known").name, "graphml");
    assert_eq!(of_path("a/b.txt", Some("metis")).expect("known").name, "metis");
    let sentence = of_path("cluster", None).expect_err("no ending").to_string();
    assert!(sentence.contains("'cluster' tells no format") && sentence.contains(".graphml"), "{sentence}");
}

/// The digest that FIPS 180-2 gives for "abc".
#[test]
fn the_hash_is_sha256() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

#[test]
fn a_binary_file_is_no_list_of_links() {
    let read = edges::FORMAT.read.expect("lists are read");
    let mistake = read(b"0 1\n\x00 \x01\n").expect_err("these are no names");
    assert_eq!(mistake.to_string(), "line 2: '\\0' is no router's name; a line is like '0 1'");
}
