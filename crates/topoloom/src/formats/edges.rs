//! Plain lists of links: a line for each, the two routers and then, if anything, a class or a latency in cycles, or a
//! dictionary as networkx writes it. A line with one name is a router without links. `#` and `%` begin comments.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::{Map, Value};

use super::{
    Format, Holds, Mistake, RawGraph, RawLink, Timing, comment, commented, csv, link_class, number, short, text,
};
use crate::network::{LinkClass, Network};

pub(super) const FORMAT: Format = Format {
    name: "edges",
    endings: &["edges", "edgelist", "el", "txt"],
    summary: "a list of links, 'a b', 'a b latency' or as networkx writes it",
    holds: &[Holds::ParallelLinks, Holds::LoneRouters, Holds::Classes, Holds::Latencies, Holds::Spec],
    read: Some(read),
    write: Some(write),
    beside: None,
};

/// Reads a list of links, or a table if the first line is a table's header.
pub(super) fn read(bytes: &[u8]) -> Result<RawGraph, Mistake> {
    let text = text(bytes)?;
    if text.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).is_some_and(csv::is_header) {
        return csv::read(bytes);
    }
    let mut raw = RawGraph::default();
    raw.written_as = commented(text);
    let mut ignored = BTreeSet::new();
    let (mut links, mut numbered) = (0, true);
    for (line, text) in (1..).zip(text.lines()) {
        let text = text.split(['#', '%']).next().unwrap_or("").trim();
        if text.is_empty() {
            continue;
        }
        let (ends, data) = text.find('{').map_or((text, ""), |brace| text.split_at(brace));
        let fields: Vec<&str> = ends.split(|c: char| c.is_whitespace() || c == ',').filter(|f| !f.is_empty()).collect();
        let names = fields.iter().take(2).map(|name| router_name(name, line)).collect::<Result<Vec<_>, _>>()?;
        match names[..] {
            [a, b] => {
                let mut link = RawLink::new(raw.node(a, line), raw.node(b, line), line);
                read_data(&mut link, &fields[2..], line)?;
                read_dictionary(&mut link, data, &mut ignored, line)?;
                raw.link(link)?;
                links += 1;
            }
            [name] if data.is_empty() => {
                raw.node(name, line);
                numbered &= name.parse::<u32>().is_ok();
            }
            _ => return Err(Mistake::at(line, "two routers should stand here, as in '0 1'")),
        }
    }
    if links == 0 && !numbered {
        return Err(Mistake::whole("no line holds a link, as in '0 1'"));
    }
    if !ignored.is_empty() {
        raw.notes
            .push(format!("data of links that was ignored: {}", ignored.into_iter().collect::<Vec<_>>().join(", ")));
    }
    Ok(raw)
}

/// Rejects what looks like a file of another kind.
fn router_name(name: &str, line: usize) -> Result<&str, Mistake> {
    if name.contains(|c: char| c.is_control() || "{}[]<>\"=".contains(c)) {
        return Err(Mistake::at(
            line,
            format!("'{}' is no router's name; a line is like '0 1'", short(name).escape_debug()),
        ));
    }
    Ok(name)
}

/// The text after the two routers: a class and a latency, either or none.
fn read_data(link: &mut RawLink, fields: &[&str], line: usize) -> Result<(), Mistake> {
    if fields.len() > 2 {
        let what = format!(
            "{} fields stand here; a line is like '0 1 local 5', or the first one of a table names its columns, \
             router_a,router_b",
            fields.len() + 2
        );
        return Err(Mistake::at(line, what));
    }
    for field in fields {
        if field.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+') {
            link.latency = Some(number("the latency", field, line)?);
        } else {
            link.class = Some(link_class(field, line)?);
        }
    }
    Ok(())
}

/// Data as networkx writes it, a dictionary of Python; the names of what is not known go to `ignored`.
fn read_dictionary(link: &mut RawLink, data: &str, ignored: &mut BTreeSet<String>, line: usize) -> Result<(), Mistake> {
    if data.is_empty() {
        return Ok(());
    }
    let json = data.replace('\'', "\"").replace("None", "null").replace("True", "true").replace("False", "false");
    let wrong = || Mistake::at(line, format!("'{}' is no dictionary, as in {{'latency': 5}}", short(data)));
    let values: Map<String, Value> = serde_json::from_str(&json).map_err(|_| wrong())?;
    for (key, value) in values {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match key.as_str() {
            "link_class" => link.class = Some(link_class(&text, line)?),
            "latency" => link.latency = Some(number("the latency", &text, line)?),
            _ => {
                ignored.insert(key);
            }
        }
    }
    Ok(())
}

fn write(network: &Network, timing: &Timing) -> crate::error::Result<String> {
    let mut text = comment(network, '#');
    for router in network.routers().filter(|&router| network.neighbors(router).next().is_none()) {
        writeln!(text, "{router}").expect("a string takes what is written");
    }
    for link in network.links() {
        let [a, b] = network.routers_of(link);
        let class = (link.class != LinkClass::Local).then(|| format!("'link_class': '{}'", link.class.name()));
        let latency = timing.of(network, link).map(|latency| format!("'latency': {latency}"));
        let data: Vec<String> = class.into_iter().chain(latency).collect();
        let data = if data.is_empty() { String::new() } else { format!(" {{{}}}", data.join(", ")) };
        writeln!(text, "{a} {b}{data}").expect("a string takes what is written");
    }
    Ok(text)
}
