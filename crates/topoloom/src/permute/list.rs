//! Cabling lists: the table of a machine that stands, `switch_a,port_a,cabinet_a,switch_b,port_b,cabinet_b`, a cable a
//! line.

use std::collections::HashMap;

use super::cabling::Cabling;
use crate::error::{Error, Result, unknown};
use crate::network::{GraphAlone, LinkClass, Network, NetworkBuilder};
use crate::table::{self, Row, Rows, heading};

/// The columns of a list, in the order in which a list without a header has them.
const COLUMNS: [&str; 6] = ["switch_a", "port_a", "cabinet_a", "switch_b", "port_b", "cabinet_b"];

/// What a column of [`COLUMNS`] may be called as well.
fn other_name(column: &str) -> String {
    column.replace("switch", "router")
}

/// The cables of a machine, in the list that was read.
#[derive(Debug, Clone)]
pub struct List {
    /// The cables. Vertices are switches, in the order of their appearance.
    pub cabling: Cabling,
    /// What was noticed when it was read.
    pub notes: Vec<String>,
    columns: Columns,
    /// All rows but the header; some are cables of terminals.
    rows: Vec<Row>,
    /// The row of each cable.
    cables: Vec<usize>,
    /// The row and the side on which each plug is listed.
    listed: Vec<(usize, usize)>,
    /// The number of terminals of each switch.
    terminals: Vec<u32>,
    /// The two halves of the label in each row, if labels are made of the ends of cables.
    halves: Option<Vec<[String; 2]>>,
}

/// Where the columns stand.
#[derive(Debug, Clone)]
struct Columns {
    /// The header as it was read.
    header: Vec<String>,
    /// Switch, port and cabinet of either end.
    ends: [[usize; 3]; 2],
    /// All pairs of columns that describe the two ends, such as `unit_a` and `unit_b`.
    pairs: Vec<[usize; 2]>,
    terminal: Option<usize>,
    label: Option<usize>,
}

impl List {
    /// Reads a list. Its first line may name the columns, in any order and among others, as `topoloom layout --cables`
    /// writes them (`router_a` is as good as `switch_a`); without such a line there are these six. Cables of terminals,
    /// which have one switch, stay where they are.
    ///
    /// # Errors
    /// [`Error::Config`] with the line: a field that is missing or empty, a port that is used twice, a switch in two
    /// cabinets, a cable from a switch to itself, a first line that names other columns; and if the network falls apart.
    pub fn read(file: &str, text: &str) -> Result<Self> {
        let mut rows = Rows::of(text);
        let mut read: Vec<Row> = rows.by_ref().collect();
        let mut reading = Reading::new(file);
        let columns = match read.first().map(|row| reading.header(row)).transpose()?.flatten() {
            Some(columns) => {
                read.remove(0);
                columns
            }
            None => Columns::of(COLUMNS.map(str::to_owned).to_vec()).expect("these are all"),
        };
        for (place, row) in read.iter().enumerate() {
            reading.row(place, row, &columns)?;
        }
        let notes = rows.note(COLUMNS.len()).into_iter().collect();
        reading.finish(columns, read, notes)
    }

    /// The number of cabinets with switches.
    pub fn cabinets(&self) -> usize {
        self.cabling.cabinets().iter().max().map_or(0, |&last| last as usize + 1)
    }

    /// The number of terminals of each switch: those that the list has, or one each if it has none.
    pub fn terminals(&self) -> &[u32] {
        &self.terminals
    }

    /// The network that the cables make when they are plugged in as in `cabling`. Routers are switches.
    ///
    /// # Errors
    /// [`Error::TooLarge`] if there are more ports than ids.
    pub fn network(&self, cabling: &Cabling) -> Result<Network> {
        let mut builder = NetworkBuilder::new(cabling.len() as u32);
        (0..).zip(&self.terminals).for_each(|(switch, &count)| builder.terminals(switch, count));
        for cable in 0..cabling.cables() as u32 {
            let [a, b] = cabling.ends(cable).map(|plug| cabling.vertex(plug));
            builder.link(a, b, LinkClass::Local);
        }
        builder.build("cabling list".to_owned(), "file", Box::new(GraphAlone))
    }

    /// What the list states about the end in a plug, by the position of a column among those of an end.
    fn end(&self, plug: u32, column: usize) -> &str {
        let (row, side) = self.listed[plug as usize];
        self.rows[row].field(self.columns.ends[side][column])
    }

    /// The name of the switch of a plug.
    pub fn switch(&self, plug: u32) -> &str {
        self.end(plug, 0)
    }

    /// The name of the port of a plug.
    pub fn port(&self, plug: u32) -> &str {
        self.end(plug, 1)
    }

    /// The name of the cabinet of a plug.
    pub fn cabinet(&self, plug: u32) -> &str {
        self.end(plug, 2)
    }

    /// The line of a cable in the file.
    pub fn line(&self, cable: u32) -> usize {
        self.rows[self.cables[cable as usize]].line
    }

    /// True if the list has labels.
    pub fn has_labels(&self) -> bool {
        self.columns.label.is_some()
    }

    /// The label that a cable has, if the list has labels.
    pub fn label(&self, cable: u32) -> Option<&str> {
        self.columns.label.map(|column| self.rows[self.cables[cable as usize]].field(column))
    }

    /// The list of `cabling`, the same cables with other plugs, with all rows and columns of this one. Paired columns
    /// describe the plug that an end is now in; labels made from them change as well.
    pub fn write(&self, cabling: &Cabling) -> String {
        let width = self.columns.header.len();
        let fields = |row: &Row| (0..width).map(|column| row.field(column).to_owned()).collect();
        let mut rows: Vec<Vec<String>> = self.rows.iter().map(fields).collect();
        for (cable, &row) in (0..).zip(&self.cables) {
            let listed = cabling.ends(cable).map(|plug| self.listed[plug as usize]);
            for (side, (from, its)) in listed.into_iter().enumerate() {
                for pair in &self.columns.pairs {
                    rows[row][pair[side]] = self.rows[from].field(pair[its]).to_owned();
                }
            }
            if let (Some(column), Some(halves)) = (self.columns.label, &self.halves) {
                rows[row][column] = listed.map(|(from, its)| halves[from][its].as_str()).join("/");
            }
        }
        table::write(std::iter::once(&self.columns.header).chain(&rows))
    }
}

impl Columns {
    /// The positions of the columns under a header.
    ///
    /// # Errors
    /// The column that is missing or is there twice, in a sentence.
    fn of(header: Vec<String>) -> std::result::Result<Self, String> {
        let keys: Vec<String> = header.iter().map(|name| heading(name)).collect();
        let place = |name: &str| {
            let names = [heading(name), heading(&other_name(name))];
            let mut places = (0..keys.len()).filter(|&at| names.contains(&keys[at]));
            match (places.next(), places.next()) {
                (Some(_), Some(_)) => Err(format!("the column {name} is listed twice")),
                (place, _) => Ok(place),
            }
        };
        let wanted = |name| {
            let missing = || format!("the column {name} is missing; a list has {}", COLUMNS.join(","));
            place(name)?.ok_or_else(missing)
        };
        let mut ends = [[0; 3]; 2];
        for (at, name) in COLUMNS.into_iter().enumerate() {
            ends[at / 3][at % 3] = wanted(name)?;
        }
        let far = |near: &str| {
            keys.iter().position(|key| near.strip_suffix('a').is_some_and(|stem| *key == format!("{stem}b")))
        };
        let others = keys.iter().enumerate().filter_map(|(at, key)| Some([at, far(key)?]));
        let own = (0..3).map(|column| [ends[0][column], ends[1][column]]);
        let pairs = own.chain(others.filter(|[at, _]| !ends[0].contains(at))).collect();
        Ok(Self { ends, pairs, terminal: place("terminal")?, label: place("label")?, header })
    }

    /// The halves of a label that names port and switch, or port and cabinet, of either end, with a slash between:
    /// `C0-U1-P2/C1-U2-P3`.
    fn halves(&self, row: &Row) -> Option<[String; 2]> {
        let label = row.field(self.label?);
        let names = |half: &str, side: usize| {
            let [switch, port, cabinet] = self.ends[side].map(|column| half.contains(row.field(column)));
            port && (switch || cabinet)
        };
        let halves = label.match_indices('/').map(|(at, slash)| [&label[..at], &label[at + slash.len()..]]);
        halves.into_iter().find(|[a, b]| names(a, 0) && names(b, 1)).map(|halves| halves.map(str::to_owned))
    }
}

/// True if a line, of which no column is known, names columns nevertheless: words, and no numbers as in a cable's.
fn looks_like_header(row: &Row) -> bool {
    const WORDS: [&str; 8] = ["switch", "router", "node", "device", "port", "interface", "cabinet", "rack"];
    let keys: Vec<String> = row.fields.iter().map(heading).collect();
    let word = |key: &&String| WORDS.iter().any(|word| key.contains(word));
    keys.iter().all(|key| !key.contains(|c: char| c.is_ascii_digit())) && keys.iter().filter(word).count() >= 2
}

/// A list as it is read, line by line.
struct Reading<'a> {
    /// The name of the file.
    file: &'a str,
    switches: Names,
    cabinets: Names,
    /// The cabinet of each switch, and the line that stated it first.
    places: Vec<(u32, usize)>,
    /// The lines on which ports were used.
    used: HashMap<(u32, String), usize>,
    /// The switches of each cable, and the row in which it stands.
    cables: Vec<([u32; 2], usize)>,
    /// The switches of the cables of terminals.
    terminals: Vec<u32>,
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

/// An end of a cable as it is listed: switch, port, cabinet.
type ListEnd<'a> = [&'a str; 3];

impl<'a> Reading<'a> {
    fn new(file: &'a str) -> Self {
        Self {
            file,
            switches: Names::default(),
            cabinets: Names::default(),
            places: Vec::new(),
            used: HashMap::new(),
            cables: Vec::new(),
            terminals: Vec::new(),
        }
    }

    fn mistake(&self, line: usize, what: impl AsRef<str>) -> Error {
        Error::Config(format!("{}: line {line}: {}", self.file, what.as_ref()))
    }

    /// The columns, if a row names them.
    fn header(&self, row: &Row) -> Result<Option<Columns>> {
        let known = |name: &str| {
            COLUMNS.into_iter().any(|column| [heading(column), heading(&other_name(column))].contains(&heading(name)))
        };
        if row.fields.iter().any(known) {
            let columns = Columns::of(row.fields.iter().map(str::to_owned).collect());
            return columns.map(Some).map_err(|what| self.mistake(row.line, what));
        }
        if looks_like_header(row) {
            return Err(self.mistake(row.line, unknown("column", row.field(0), COLUMNS)));
        }
        Ok(None)
    }

    /// Reads a row: a cable between two switches, or that of a terminal.
    fn row(&mut self, place: usize, row: &Row, columns: &Columns) -> Result<()> {
        if row.fields.len() == 1 {
            let what = format!("there is no comma between fields; a cable is {}", COLUMNS.join(","));
            return Err(self.mistake(row.line, what));
        }
        let width = columns.header.len();
        if (width..row.fields.len()).any(|column| !row.field(column).is_empty()) {
            let fields = row.fields.len();
            let what = format!("{fields} fields stand here, where there are {width}: {}", columns.header.join(","));
            return Err(self.mistake(row.line, what));
        }
        let ends = columns.ends.map(|end| end.map(|column| row.field(column)));
        let terminal = columns.terminal.map_or("", |column| row.field(column));
        if !terminal.is_empty() {
            return self.terminal(row.line, terminal, ends);
        }
        for (side, end) in ends.into_iter().enumerate() {
            self.check_listed(row.line, side, end)?;
        }
        if ends[0][0] == ends[1][0] {
            return Err(self.mistake(row.line, format!("the cable leads from switch '{}' to itself", ends[0][0])));
        }
        let switches = [self.end(row.line, ends[0])?, self.end(row.line, ends[1])?];
        self.cables.push((switches, place));
        Ok(())
    }

    /// Reads the cable of a terminal, which has a switch at one end.
    fn terminal(&mut self, line: usize, terminal: &str, ends: [ListEnd; 2]) -> Result<()> {
        let side = match ends.map(|[switch, ..]| switch.is_empty()) {
            [false, true] => 0,
            [true, false] => 1,
            [empty, _] => {
                let switches = if empty { "no switch" } else { "two switches" };
                let what = format!("the cable of terminal '{terminal}' leads to {switches}; it leads to one");
                return Err(self.mistake(line, what));
            }
        };
        self.check_listed(line, side, ends[side])?;
        let switch = self.end(line, ends[side])?;
        self.terminals.push(switch);
        Ok(())
    }

    /// Makes sure that nothing is missing at an end.
    fn check_listed(&self, line: usize, side: usize, [switch, port, cabinet]: ListEnd) -> Result<()> {
        let end = ["a", "b"][side];
        let what = match [switch, port, cabinet].map(str::is_empty) {
            [true, ..] => format!("the switch at end {end} is missing"),
            [_, true, _] => format!("the port at end {end} is missing"),
            [.., true] => format!("switch '{switch}' is in no cabinet"),
            _ => return Ok(()),
        };
        Err(self.mistake(line, format!("{what}; a cable is {}", COLUMNS.join(","))))
    }

    /// Takes a port; returns the switch.
    fn end(&mut self, line: usize, [switch, port, cabinet]: ListEnd) -> Result<u32> {
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
        Ok(number)
    }

    fn finish(self, columns: Columns, rows: Vec<Row>, mut notes: Vec<String>) -> Result<List> {
        if self.cables.is_empty() {
            return Err(Error::Config(format!("{}: there is no cable between two switches in it", self.file)));
        }
        // Plugs of a switch are distinguished by the position of their cable in the list.
        let plug = |(place, &(switches, _)): (u32, &([u32; 2], usize))| switches.map(|switch| (switch, place));
        let ends: Vec<[(u32, u32); 2]> = (0..).zip(&self.cables).map(plug).collect();
        let cabling = Cabling::new(self.places.iter().map(|&(cabinet, _)| cabinet).collect(), &ends);
        self.check_connected(&cabling)?;
        let cables: Vec<usize> = self.cables.iter().map(|&(_, row)| row).collect();
        let mut listed = vec![(0, 0); 2 * cables.len()];
        for (cable, &row) in (0..).zip(&cables) {
            cabling.ends(cable).into_iter().enumerate().for_each(|(side, plug)| listed[plug as usize] = (row, side));
        }
        match self.terminals.len() {
            0 => notes.push("no cable leads to a terminal: bandwidth is that of one terminal per switch".to_owned()),
            1 => notes.push("the cable of a terminal stays where it is".to_owned()),
            terminals => notes.push(format!("{terminals} cables of terminals stay where they are")),
        }
        if cabling.is_apart() {
            notes.push("every cabinet holds one switch, so no cables can exchange ends: that takes two switches in one cabinet".to_owned());
        }
        let halves = halves(&columns, &rows, &cables);
        let alone = self.terminals.is_empty();
        let mut terminals = vec![u32::from(alone); cabling.len()];
        self.terminals.iter().for_each(|&switch| terminals[switch as usize] += 1);
        Ok(List { cabling, notes, columns, rows, cables, listed, terminals, halves })
    }

    fn check_connected(&self, cabling: &Cabling) -> Result<()> {
        let unreached = cabling.unreached();
        let Some(&first) = unreached.first() else { return Ok(()) };
        let [a, b] = [0, first as usize]
            .map(|switch| format!("switch '{}' (line {})", self.switches.names[switch], self.places[switch].1));
        let others = match unreached.len() - 1 {
            0 => String::new(),
            1 => ", nor can one other".to_owned(),
            others => format!(", nor can {others} others"),
        };
        Err(Error::Config(format!(
            "{}: the network is disconnected: {b} cannot be reached from {a}{others}",
            self.file
        )))
    }
}

/// The halves of the labels in all rows, if those of all cables have them.
fn halves(columns: &Columns, rows: &[Row], cables: &[usize]) -> Option<Vec<[String; 2]>> {
    let mut halves = vec![<[String; 2]>::default(); rows.len()];
    for &row in cables {
        halves[row] = columns.halves(&rows[row])?;
    }
    Some(halves)
}
