//! Cabling lists: the table of a machine that stands, `switch_a,port_a,cabinet_a,switch_b,port_b,cabinet_b`, a cable a
//! line.

use std::collections::HashMap;

use super::cabling::Cabling;
use crate::error::{Error, Result};

/// The columns of a list, in the order in which a list without a header has them.
const COLUMNS: [&str; 6] = ["switch_a", "port_a", "cabinet_a", "switch_b", "port_b", "cabinet_b"];

/// The cables of a machine, with the names that its list gives.
#[derive(Debug, Clone)]
pub struct List {
    /// The cables. Vertices are switches, in the order of their appearance.
    pub cabling: Cabling,
    switches: Vec<String>,
    cabinets: Vec<String>,
    /// The name of the port of each plug.
    ports: Vec<String>,
    /// What was noticed when it was read.
    pub notes: Vec<String>,
}

/// A list as it is read, line by line.
struct Reading<'a> {
    /// The name of the file.
    file: &'a str,
    switches: Names,
    cabinets: Names,
    /// The cabinet of each switch, and the line that said so first.
    places: Vec<(u32, u64)>,
    /// The lines on which ports were used.
    used: HashMap<(u32, String), u64>,
    ports: Vec<String>,
    cables: Vec<[(u32, u32); 2]>,
}

/// Names with numbers, in the order of their appearance.
#[derive(Default)]
struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
}

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }
}

impl List {
    /// Reads a list. Its first line may name the columns, in any order and among others, as `topoloom layout --cables`
    /// writes them (`router_a` is as good as `switch_a`); without such a line there are these six. Cables of terminals,
    /// which have no second switch, are passed over.
    ///
    /// # Errors
    /// [`Error::Config`] with the line: a field that is missing or empty, a port that is used twice, a switch in two
    /// cabinets, a cable from a switch to itself; and if the network falls apart.
    pub fn read(file: &str, text: &str) -> Result<Self> {
        let mut reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .trim(csv::Trim::All)
            .flexible(true)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let mut reading = Reading {
            file,
            switches: Names::default(),
            cabinets: Names::default(),
            places: Vec::new(),
            used: HashMap::new(),
            ports: Vec::new(),
            cables: Vec::new(),
        };
        let (mut columns, mut terminal, mut terminals) = ([0, 1, 2, 3, 4, 5], None, 0u32);
        for (place, record) in reader.records().enumerate() {
            let record = record.map_err(|_| Error::Config(format!("{file}: it does not read as a table")))?;
            let line = record.position().map_or(0, csv::Position::line);
            if place == 0 && record.iter().any(|field| field == "port_a") {
                columns = reading.header(&record)?;
                terminal = record.iter().position(|field| field == "terminal");
            } else if terminal.is_some_and(|column| record.get(column).is_some_and(|field| !field.is_empty())) {
                terminals += 1;
            } else {
                reading.line(line, columns.map(|column| record.get(column).unwrap_or("")))?;
            }
        }
        let mut list = reading.finish()?;
        if terminals > 0 {
            list.notes.push(format!("{terminals} cables of terminals stay where they are"));
        }
        Ok(list)
    }

    /// The number of cabinets.
    pub fn cabinets(&self) -> usize {
        self.cabinets.len()
    }

    /// The name of the switch of a plug.
    pub fn switch(&self, plug: u32) -> &str {
        &self.switches[self.cabling.vertex(plug) as usize]
    }

    /// The name of the port of a plug.
    pub fn port(&self, plug: u32) -> &str {
        &self.ports[plug as usize]
    }

    /// The name of the cabinet of a plug.
    pub fn cabinet(&self, plug: u32) -> &str {
        &self.cabinets[self.cabling.cabinet(plug) as usize]
    }

    /// The list of `cabling`, the same cables plugged in elsewhere, as [`List::read`] reads it.
    pub fn write(&self, cabling: &Cabling) -> String {
        let header = COLUMNS.map(str::to_owned);
        let rows = (0..cabling.cables() as u32).map(|cable| {
            let [a, b] = cabling.ends(cable).map(|plug| [self.switch(plug), self.port(plug), self.cabinet(plug)]);
            std::array::from_fn(|column| if column < 3 { a[column] } else { b[column - 3] }.to_owned())
        });
        table(std::iter::once(header).chain(rows))
    }
}

/// Rows as CSV.
pub(super) fn table<const N: usize>(rows: impl Iterator<Item = [String; N]>) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.for_each(|row| writer.write_record(row).expect("memory takes it"));
    String::from_utf8(writer.into_inner().expect("memory takes it")).expect("names are text")
}

impl Reading<'_> {
    fn mistake(&self, line: u64, what: impl AsRef<str>) -> Error {
        Error::Config(format!("{}: line {line}: {}", self.file, what.as_ref()))
    }

    fn header(&self, record: &csv::StringRecord) -> Result<[usize; 6]> {
        let mut columns = [0; 6];
        for (place, name) in columns.iter_mut().zip(COLUMNS) {
            let other = name.replace("switch", "router");
            let found = record.iter().position(|field| field == name || field == other);
            *place = found.ok_or_else(|| self.mistake(1, format!("the column {name} is missing")))?;
        }
        Ok(columns)
    }

    fn line(&mut self, line: u64, fields: [&str; 6]) -> Result<()> {
        for (field, column) in fields.iter().zip(["switch", "port", "cabinet"].iter().cycle()) {
            if field.is_empty() {
                let end = if std::ptr::eq(*field, fields[0]) { "" } else { " of an end" };
                let what = match *column {
                    "cabinet" => "a switch is in no cabinet".to_owned(),
                    other => format!("the {other}{end} is missing"),
                };
                return Err(self.mistake(line, format!("{what}; a cable is {}", COLUMNS.join(","))));
            }
        }
        let [a, b] = [0, 3].map(|first| [fields[first], fields[first + 1], fields[first + 2]]);
        if a[0] == b[0] {
            return Err(self.mistake(line, format!("the cable leads from switch '{}' to itself", a[0])));
        }
        let ends = [self.end(line, a)?, self.end(line, b)?];
        self.cables.push(ends);
        Ok(())
    }

    fn end(&mut self, line: u64, [switch, port, cabinet]: [&str; 3]) -> Result<(u32, u32)> {
        let (number, place) = (self.switches.number(switch), self.cabinets.number(cabinet));
        match self.places.get(number as usize) {
            None => self.places.push((place, line)),
            Some(&(known, _)) if known == place => {}
            Some(&(known, first)) => {
                let known = &self.cabinets.names[known as usize];
                let what = format!("switch '{switch}' is in cabinet '{cabinet}' here, in '{known}' on line {first}");
                return Err(self.mistake(line, what));
            }
        }
        if let Some(first) = self.used.insert((number, port.to_owned()), line) {
            let what = format!("port '{port}' of switch '{switch}' is used twice, first on line {first}");
            return Err(self.mistake(line, what));
        }
        self.ports.push(port.to_owned());
        Ok((number, self.ports.len() as u32 - 1))
    }

    fn finish(self) -> Result<List> {
        if self.cables.is_empty() {
            return Err(Error::Config(format!("{}: there is no cable in it", self.file)));
        }
        let cabinets = self.places.iter().map(|&(cabinet, _)| cabinet).collect();
        let cabling = Cabling::new(cabinets, &self.cables);
        let reached: u64 = cabling.histogram().iter().sum();
        if reached != (cabling.len() as u64).pow(2) {
            return Err(Error::Config(format!(
                "{}: the network is disconnected; some switches have no way to others over these cables",
                self.file
            )));
        }
        let mut ports = vec![String::new(); self.ports.len()];
        for (cable, ends) in (0..).zip(&self.cables) {
            for (plug, &(_, port)) in cabling.ends(cable).into_iter().zip(ends) {
                ports[plug as usize] = self.ports[port as usize].clone();
            }
        }
        let (switches, cabinets) = (self.switches.names, self.cabinets.names);
        Ok(List { cabling, switches, cabinets, ports, notes: Vec::new() })
    }
}
