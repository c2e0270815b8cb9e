//! What sending and receiving costs at the endpoints, in the parameters of LogGOPS (Hoefler, Schneider and Lumsdaine,
//! HPDC 2010), which adds to LogGP (Alexandrov, Ionescu, Schauser and Scheiman, SPAA 1995) and to LogP (Culler et al., PPoPP
//! 1993). By default nothing costs anything.

use serde::Serialize;

use crate::catalogue::{Alone, Arguments, Entry, Key, Kind, Lead};
use crate::error::{Error, Result};

/// The keys, with their meaning.
pub const KEYS: &[Key] = &[
    Key::new("latency", Kind::Time("1us"), "L: what a message takes beside its path and its bytes (default 0s)"),
    Key::new("overhead", Kind::Time("500ns"), "o: how long a send, or a receive, occupies its task (default 0s)"),
    Key::new(
        "gap",
        Kind::Time("100ns"),
        "g: between the beginnings of two messages of one terminal, at least (default 0s)",
    ),
    Key::new("per-byte", Kind::Time("0.02ns"), "G: what each byte takes at its terminal, at least (default 0s)"),
    Key::new("rendezvous", Kind::Bytes, "S: longer messages wait for a request and its answer (default: none do)"),
    Key::new("header", Kind::Bytes, "bytes that each packet carries beside its data (default: none)"),
    Key::new("packet", Kind::Bytes, "the largest data of a packet in bytes, for header (default 4KiB)"),
    Key::new(
        "window",
        Kind::Bytes,
        "the most bytes in flight from a terminal to each other one, until they are acknowledged (default: no limit)",
    ),
    Key::new("reduce", Kind::Time("0.1ns"), "what a task that receives takes for each byte (default 0s)"),
];

/// How the costs of endpoints are read.
pub const ENTRY: Entry = Entry {
    noun: "the endpoint",
    name: "endpoint",
    lead: Lead::Nothing,
    keys: KEYS,
    shared: &[],
    alone: Alone::Flag,
    wrong: Error::Config,
};

/// What sending and receiving costs. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Endpoint {
    /// L: seconds that a message takes beside its path and its bytes.
    pub latency_s: f64,
    /// o: seconds for which a send, or a receive, occupies its task.
    pub overhead_s: f64,
    /// g: seconds between the beginnings of two messages of one terminal.
    pub gap_s: f64,
    /// G: seconds that each byte takes at its terminal, at least.
    pub per_byte_s: f64,
    /// S: bytes above which messages wait for a request and its answer.
    pub rendezvous: Option<u64>,
    /// Bytes of a packet beside its data.
    pub header: u64,
    /// At most this many bytes of data in a packet.
    pub packet: u64,
    /// Bytes that a terminal may have in flight to each other one.
    pub window: Option<u64>,
    /// Seconds that a task that receives takes for each byte.
    pub reduce_s: f64,
}

impl Default for Endpoint {
    fn default() -> Self {
        let (latency_s, overhead_s, gap_s, per_byte_s, reduce_s) = (0.0, 0.0, 0.0, 0.0, 0.0);
        let (rendezvous, window) = (None, None);
        Self { latency_s, overhead_s, gap_s, per_byte_s, rendezvous, header: 0, packet: 4096, window, reduce_s }
    }
}

impl Endpoint {
    /// Reads `key=value,…`; nothing: all is free.
    ///
    /// # Errors
    /// [`Error::Config`] for a key that there is not, or a value that is none.
    pub fn read(text: &str) -> Result<Self> {
        let keys = Arguments::read(ENTRY, ENTRY.name, text)?;
        if keys.has("packet") && !keys.has("header") {
            return Err(keys.mistake("packet changes nothing without header, which each packet carries"));
        }
        let seconds = |key| keys.seconds(key).unwrap_or(0.0);
        Ok(Self {
            latency_s: seconds("latency"),
            overhead_s: seconds("overhead"),
            gap_s: seconds("gap"),
            per_byte_s: seconds("per-byte"),
            rendezvous: keys.bytes("rendezvous"),
            header: keys.bytes("header").unwrap_or(0),
            packet: keys.bytes("packet").unwrap_or(4096),
            window: keys.bytes("window"),
            reduce_s: seconds("reduce"),
        })
    }

    /// True if nothing costs anything.
    pub fn is_free(&self) -> bool {
        *self == Self::default()
    }

    /// The bytes of a message with the headers of its packets.
    pub fn carried(&self, bytes: u64) -> u64 {
        bytes + bytes.div_ceil(self.packet) * self.header
    }

    /// Rejects what packets of this many bytes cannot be: those of the cycle engine, which has its own.
    ///
    /// # Errors
    /// [`Error::Config`].
    pub fn check_cycles(&self, bytes: u64) -> Result<()> {
        if self.packet != Self::default().packet {
            return Err(Error::Config(
                "the endpoint's packet is of the flow engine; packets of the cycle engine have --packet flits"
                    .to_owned(),
            ));
        }
        if self.header >= bytes {
            return Err(Error::Config(format!(
                "packets of {bytes} bytes have no room for data beside a header of {} bytes; larger --packet or --flit \
                 make room",
                self.header
            )));
        }
        Ok(())
    }

    /// True if a message of this many bytes waits for a request and its answer.
    pub fn shakes_hands(&self, bytes: u64) -> bool {
        self.rendezvous.is_some_and(|most| bytes > most)
    }
}

/// How busy the tasks and the interfaces of endpoints are.
#[derive(Debug)]
pub struct Endpoints {
    overhead_s: f64,
    gap_s: f64,
    reduce_s: f64,
    /// When each task is free again.
    tasks: Vec<f64>,
    /// When the interface of each task can begin its next message.
    interfaces: Vec<f64>,
}

impl Endpoints {
    /// This many tasks, all idle.
    pub fn new(costs: &Endpoint, tasks: usize) -> Self {
        let Endpoint { overhead_s, gap_s, reduce_s, .. } = *costs;
        Self { overhead_s, gap_s, reduce_s, tasks: vec![0.0; tasks], interfaces: vec![0.0; tasks] }
    }

    /// A task sends a message that is ready at `now`: returns when it is handed to the network, if nothing is to be shaken
    /// hands for.
    pub fn send(&mut self, task: u32, now: f64) -> f64 {
        let own = &mut self.tasks[task as usize];
        *own = own.max(now) + self.overhead_s;
        let interface = &mut self.interfaces[task as usize];
        let begins = interface.max(*own);
        *interface = begins + self.gap_s;
        begins
    }

    /// A message of this many bytes has come at `now`: returns when its task has taken it in.
    pub fn receive(&mut self, task: u32, bytes: u64, now: f64) -> f64 {
        let own = &mut self.tasks[task as usize];
        *own = own.max(now) + self.overhead_s + self.reduce_s * bytes as f64;
        *own
    }

    /// When a task that is to compute at `now` can begin.
    pub fn compute(&self, task: u32, now: f64) -> f64 {
        self.tasks[task as usize].max(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read_with_their_units() {
        let read = Endpoint::read(
            "latency=1us,overhead=500ns,gap=100ns,per-byte=0.02ns,rendezvous=64KiB,header=16,reduce=0.1ns",
        );
        let costs = read.expect("reads");
        assert_eq!((costs.latency_s, costs.rendezvous, costs.packet), (1e-6, Some(65_536), 4096));
        assert_eq!([0, 1, 4096, 4097].map(|bytes| costs.carried(bytes)), [0, 17, 4112, 4129]);
        assert_eq!([65_536, 65_537].map(|bytes| costs.shakes_hands(bytes)), [false, true]);
        assert!(Endpoint::read("").expect("free").is_free() && !costs.is_free());
        for (text, words) in [
            ("latncy=1us", "did you mean 'latency'"),
            ("latency=1", "latency is '1'; it must be a time with its unit"),
            ("overhead=-1us", "overhead is '-1us'"),
            ("packet=4KiB", "packet changes nothing without header"),
            ("header=0", "header is '0'; it must be a number of bytes from 1 up"),
            ("window=0", "window is '0'; it must be a number of bytes from 1 up"),
            ("window=-4KiB", "window is '-4KiB'; it must be a number of bytes from 1 up"),
            ("window=64Ki", "window is '64Ki'; it must be a number of bytes from 1 up"),
            ("windw=64KiB", "did you mean 'window'"),
        ] {
            let sentence = Endpoint::read(text).expect_err(text).to_string();
            assert!(sentence.contains(words), "{text}: {sentence}");
        }
    }

    #[test]
    fn tasks_and_interfaces_do_one_thing_at_a_time() {
        let costs = Endpoint { overhead_s: 1.0, gap_s: 3.0, reduce_s: 0.5, ..Endpoint::default() };
        let mut ends = Endpoints::new(&costs, 2);
        assert_eq!([0.0, 0.0, 0.0].map(|now| ends.send(0, now)), [1.0, 4.0, 7.0], "g is longer than o");
        assert_eq!(ends.compute(0, 0.0), 3.0, "three sends, one after the other");
        assert_eq!((ends.receive(0, 4, 2.0), ends.receive(1, 4, 2.0)), (6.0, 5.0));
        assert_eq!(ends.send(0, 20.0), 21.0);
    }
}
