//! Every format against itself; tests/formats/test_files.py holds them against networkx.

use super::*;
use crate::topology::build;

/// The network that a reader makes of a text.
fn reread(format: &Format, text: &str) -> Network {
    let raw = format.read.expect("every format is read")(text.as_bytes()).expect("we wrote it");
    let origin = Origin { spec: "file:test".to_owned(), family: "file", sha256: sha256(text.as_bytes()) };
    raw.into_network(origin, None).expect("we wrote it")
}

#[test]
fn what_a_format_holds_comes_back() {
    for spec in ["mesh:4x3,p=2", "hyperx:3x3,trunk=2", "fattree:k=2,levels=3", "dragonfly:a=4,h=2,p=2", "mesh:1"] {
        let network = build(spec).expect(spec);
        for format in FORMATS.iter().filter(|format| format.read.is_some()) {
            let (text, lost) = write(&network, format, &Timing::default()).expect("every format is written");
            if text.lines().count() < 2 && format.name == "csv" {
                continue; // A table cannot hold a router without links.
            }
            let again = reread(format, &text);
            assert_eq!(again.num_routers(), network.num_routers(), "{spec} in {}", format.name);
            if lost.is_empty() {
                let (twice, _) = write(&again, format, &Timing::default()).expect("every format is written");
                let graph = |text: &str| -> Vec<String> {
                    let lines = text.lines().filter(|line| !line.contains(WRITTEN));
                    lines.map(|line| line.replace("file:test", spec)).collect()
                };
                if ["csv", "graphml", "metis", "graph6", "ibsim"].contains(&format.name) {
                    assert_eq!(graph(&twice), graph(&text), "{spec} in {}", format.name);
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
        write(&network, named(format, Use::Writing).expect(format), &Timing::default()).expect("written").1.join("")
    };
    assert_eq!(lost("mesh:3x3", "graph6"), "");
    assert!(lost("mesh:3x3,p=2", "edges").ends_with("the format edges cannot hold terminals (read it with p=2)"));
    assert!(lost("fattree:k=2,levels=2", "graph6").contains("terminals (4 on 2 of the routers), classes of links"));
    assert!(lost("torus:2x2,double=true", "graph6").contains("parallel links (4 links left out)"));
    assert!(lost("hyperx:2x2,tile=2x2", "csv").contains("the ids of terminals"));
    assert_eq!(lost("hyperx:2x2,tile=2x2", "anynet"), "");
    assert!(lost("torus:4x2,double=true", "caminos").contains("parallel links (4 links left out)"));
    assert!(lost("mesh:1", "csv").contains("routers without links (1 left out)"));
}

#[test]
fn an_ending_tells_the_format() {
    assert_eq!(of_path("a/b.GraphML", None, Use::Reading).expect("known").name, "graphml");
    assert_eq!(of_path("a/b.txt", Some("metis"), Use::Reading).expect("known").name, "metis");
    let told = |path: &str, name, wanted| of_path(path, name, wanted).expect_err("no format").to_string();
    let sentence = told("cluster", None, Use::Reading);
    assert!(sentence.contains("'cluster' selects no format") && sentence.contains(".graphml"), "{sentence}");
    assert!(sentence.contains("ibsim") && !sentence.contains(".dot") && !sentence.contains("simgrid"), "{sentence}");
    let sentence = told("cluster", None, Use::Writing);
    assert!(sentence.contains(".dot") && sentence.contains("simgrid"), "{sentence}");
    let sentence = told("cluster", Some("grphml"), Use::Reading);
    assert!(sentence.contains("did you mean 'graphml'") && !sentence.contains("slurm"), "{sentence}");
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

/// Output of `ibnetdiscover`: gaps in port numbers, an adapter with two ports, a cable that only one end lists.
const DISCOVERED: &str = r#"
vendid=0x2c9
switchguid=0x2c90200404e50(2c90200404e50)
Switch	36 "S-0002c90200404e50"		# "leaf # 1" enhanced port 0 lid 3 lmc 0
[1]	"H-0002c903000a0001"[1](2c903000a0002) 		# "node001 HCA-1" lid 5 4xQDR
[19]	"S-0002c90200404e60"[7]		# "leaf 2" lid 4 4xQDR
[20]	"S-0002c90200404e60"[8]		# "leaf 2" lid 4 4xQDR

Switch	36 "S-0002c90200404e60"		# "leaf 2" enhanced port 0 lid 4 lmc 0
[8]	"S-0002c90200404e50"[20]		# "leaf # 1" lid 3 4xQDR
[7]	"S-0002c90200404e50"[19]		# "leaf # 1" lid 3 4xQDR
[2]	"H-0002c903000a0001"[2](2c903000a0003) 		# "node001 HCA-1" lid 6 4xQDR
[9]	"H-0002c903000a0009"[1](2c903000a000a) 		# "node002 HCA-1" lid 7 4xQDR

caguid=0x2c903000a0001
Ca	2 "H-0002c903000a0001"		# "node001 HCA-1"
[1](2c903000a0002)	"S-0002c90200404e50"[1]		# lid 5 lmc 0 "leaf # 1" lid 3 4xQDR
[2](2c903000a0003)	"S-0002c90200404e60"[2]		# lid 6 lmc 0 "leaf 2" lid 4 4xQDR
"#;

#[test]
fn a_discovered_subnet_keeps_its_guids_and_numbers_of_ports() {
    let network = reread(&ibnet::FORMAT, DISCOVERED);
    assert_eq!((network.num_routers(), network.num_terminals(), network.links().len()), (2, 3, 2));
    let fabric = network.fabric().expect("a subnet");
    assert_eq!(fabric.switches, [0x2c90200404e50, 0x2c90200404e60]);
    assert_eq!(fabric.adapters, [0x2c903000a0002, 0x2c903000a0003, 0x2c903000a000a]);
    assert_eq!(fabric.numbers, [1, 19, 20, 2, 9, 7, 8]);
    let (text, _) = write(&network, &ibnet::FORMAT, &Timing::default()).expect("written");
    assert_eq!(reread(&ibnet::FORMAT, &text).fabric(), Some(fabric));
    let mistake = |text: &str| (ibnet::FORMAT.read.expect("read"))(text.as_bytes()).expect_err(text).to_string();
    let torn = DISCOVERED.replace("[19]\t\"S-0002c90200404e60\"[7]", "[19]\t\"S-0002c90200404e60\"[9]");
    assert_eq!(
        mistake(&torn),
        "line 11: port 19 of 'S-0002c90200404e50' leads to port 7 of 'S-0002c90200404e60' here, and to port 9 of \
         'S-0002c90200404e60' before"
    );
    assert_eq!(
        mistake("Switch 8 \"S-1\"\n[1] \"S-2\"[1]\n"),
        "line 2: a port leads to 'S-2', of which there is no record"
    );
    assert!(mistake("Ca 1 \"H-1\"\n[1] \"H-2\"[1]\n").contains("are linked without a switch"));
    assert!(mistake("0 1\n").contains("it is not what ibnetdiscover prints"));
}

/// The subnet above at 4xEDR, with a bad cable, an aggregation node in each switch (one without a record), and a
/// router.
fn discovered_now() -> String {
    let text = DISCOVERED.replace("4xQDR", "4xEDR");
    let text = text.replacen("lid 4 4xEDR", "lid 4 1xSDR", 1).replacen("lid 3 4xEDR\n[2]", "lid 3 1xSDR\n[2]", 1);
    let leaf =
        "[37]\t\"H-0002c903000aff01\"[1](2c903000aff02) \t\t# \"Mellanox Technologies Aggregation Node\" lid 9 4xHDR\n";
    let text = text.replacen("[19]\t", &format!("{leaf}[19]\t"), 1);
    let other = leaf.replace("ff0", "ee0");
    let text =
        text.replacen("\n[8]\t", &format!("\n{other}[30]\t\"R-0002c903000add01\"[1] # \"up\" lid 11 4xEDR\n[8]\t"), 1);
    let record = "\ncaguid=0x2c903000aff01\nCa\t1 \"H-0002c903000aff01\"\t\t# \"Mellanox Technologies Aggregation Node\"\n\
                  [1](2c903000aff02)\t\"S-0002c90200404e50\"[37]\t\t# lid 9 lmc 0 \"leaf # 1\" lid 3 4xHDR\n\
                  \nrtguid=0x2c903000add01\nRt\t1 \"R-0002c903000add01\"\t\t# \"up\"\n\
                  [1]\t\"S-0002c90200404e60\"[30]\t\t# lid 11 lmc 0 \"leaf 2\" lid 4 4xEDR\n";
    text + record
}

#[test]
fn nodes_that_are_no_hosts_are_left_out_of_a_discovered_subnet() {
    let network = reread(&ibnet::FORMAT, &discovered_now());
    assert_eq!((network.num_routers(), network.num_terminals(), network.links().len()), (2, 3, 2));
    let fabric = network.fabric().expect("a subnet");
    assert_eq!(fabric.left_out, [0x2c903000aee02, 0x2c903000aff02]);
    assert_eq!(fabric.numbers, [1, 19, 20, 2, 9, 7, 8]);
    let notes = network.notes().join("\n");
    for words in [
        "2 aggregation nodes of switches (SHARP), which are no hosts, left out of the network: 'Mellanox Technologies \
         Aggregation Node' (H-0002c903000aee01) at port 37 of 'leaf 2' (S-0002c90200404e60), ",
        "1 router to other subnets, left out of the network: 'up' (R-0002c903000add01) at port 30 of 'leaf 2'",
    ] {
        assert!(notes.contains(words), "{notes}");
    }
}

#[test]
fn a_slow_link_of_a_discovered_subnet_is_named() {
    let notes = |text: &str| reread(&ibnet::FORMAT, text).notes().join("\n");
    assert!(!notes(DISCOVERED).contains("rate"), "{}", notes(DISCOVERED));
    let text = discovered_now();
    let found = notes(&text);
    assert!(
        found.contains("links between switches run at different rates, 1 at 4xEDR (100 Gb/s), 1 at 1xSDR (2 Gb/s)")
    );
    assert!(
        found.contains(
            "1 of the links between switches are slower than most, as a bad cable or port is: port 19 of 'leaf # 1' \
             (S-0002c90200404e50) to port 7 of 'leaf 2' (S-0002c90200404e60) (1xSDR)"
        ),
        "{found}"
    );
    assert!(!found.contains("cables of terminals") && !found.contains("ends of a link"), "{found}");
    let host = text.replacen("lid 5 4xEDR", "lid 5 1xEDR", 1);
    assert!(notes(&host).contains("ends of a link have different rates: port 1 of 'leaf # 1'"), "{}", notes(&host));
    assert!(notes(&host).contains("1 of the cables of terminals are slower than most"), "{}", notes(&host));
}
