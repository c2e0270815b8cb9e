//! `file:cluster.graphml`: a graph from a file, in any format of [`crate::formats`].
//!
//! Router ids: the whole numbers that name the routers in the file, counted from 0 without gaps; if there are gaps, in
//! their ascending order; other names in the order of their appearance. Ports: terminals, then links in the order of
//! the ports that the file gives, else in the order of the file. Link classes: the file's, else `local`. A file that states
//! of which network it was written is that network, as long as the graph is the same (see [`of_file`](super::of_file)).

use super::params::{AS, P, PATH, Params};
use super::{Family, Roles, of_file};
use crate::catalogue::grammar::bracketed;
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::formats::{self, Origin, Use};
use crate::inputs;
use crate::network::Network;

pub(super) const FAMILY: Family = Family {
    name: "file",
    summary: "a graph from a file: GraphML, tables of links, edge lists, BookSim anynet, METIS, graph6, ibnetdiscover",
    sizes: None,
    keys: &[
        PATH,
        Key::new(P.name, Kind::count(1), "terminals on every router (default: the file's own, else 1)"),
        Key::new(
            "format",
            Kind::Text("a format that is read"),
            "graphml, csv, edges, anynet, metis, graph6 or ibsim (default: by the ending)",
        ),
        AS,
        Key::new(
            "latencies",
            Kind::Choice(&["file", "class"]),
            "file: links keep the latencies that the file gives (default); class: --links decides",
        ),
    ],
    example: "file:cluster.graphml,p=1",
    source: "the file",
    routings: &[],
    roles: Roles::ANY,
    build,
};

fn build(params: &Params) -> Result<Network> {
    let path = params
        .text(PATH.name)
        .ok_or_else(|| params.mistake("the path is missing; write it like 'file:cluster.graphml'"))?;
    let p = params.count("p");
    let own_latencies = params.choice("latencies") == "file";
    let format = formats::of_path(path, params.text("format"), Use::Reading)
        .map_err(|error| params.mistake(error.to_string()))?;
    let read = format.read.ok_or_else(|| params.mistake(format!("the format {} is only written", format.name)))?;
    let bytes = inputs::read(path).map_err(|why| params.mistake(format!("cannot read '{path}': {why}")))?;
    let origin = Origin { spec: params.spec().to_owned(), family: FAMILY.name, sha256: formats::sha256(&bytes) };
    let raw = read(&bytes).map_err(|mistake| params.mistake(mistake.to_string()))?;
    let raw = if own_latencies { raw } else { raw.without_latencies() };
    let stated = params.text(AS.name).map(|text| bracketed(text).unwrap_or(text));
    of_file(raw, origin, format.holds, p, stated)
}
