//! Collectives that stay calls: an operation of every rank that takes part, without the messages of an algorithm. Traces
//! for other simulators hold such calls, so that these choose their own algorithms. No engine runs them.

use std::collections::HashMap;

use super::collective::Collective;

/// A collective that ranks call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Call {
    /// What they do together.
    pub what: Collective,
    /// Bytes that a rank begins with.
    pub bytes: u64,
    /// The position of their group among [`Calls::groups`].
    pub group: u32,
}

/// Ranks that call together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallGroup {
    /// What traces call it; none of the group of all ranks.
    pub name: Option<String>,
    /// The ranks, in their order.
    pub members: Vec<u32>,
}

/// The calls of a workload.
#[derive(Debug, Default)]
pub struct Calls {
    /// The groups, in the order in which they were named.
    pub groups: Vec<CallGroup>,
    list: Vec<Call>,
    /// Operations and their calls, by operations.
    ops: Vec<(u32, u32)>,
    /// Numbered groups, by how they work together and their ranks.
    known: HashMap<(u8, Vec<u32>), u32>,
}

impl Calls {
    /// The group of these ranks that work together in this way; its name is its number.
    pub fn numbered(&mut self, way: u8, members: &[u32]) -> u32 {
        if let Some(known) = self.known.get(&(way, members.to_vec())) {
            return *known;
        }
        // Other simulators count groups from 1.
        let name = (self.groups.len() + 1).to_string();
        let group = self.push(Some(name), members);
        self.known.insert((way, members.to_vec()), group);
        group
    }

    /// The group of this name, none of all ranks; groups come one after the other.
    pub fn named(&mut self, name: Option<&str>, members: &[u32]) -> u32 {
        match self.groups.last() {
            Some(last) if last.name.as_deref() == name => self.groups.len() as u32 - 1,
            _ => self.push(name.map(str::to_owned), members),
        }
    }

    fn push(&mut self, name: Option<String>, members: &[u32]) -> u32 {
        self.groups.push(CallGroup { name, members: members.to_vec() });
        self.groups.len() as u32 - 1
    }

    /// Adds a call; returns its number.
    pub fn add(&mut self, call: Call) -> u32 {
        self.list.push(call);
        self.list.len() as u32 - 1
    }

    /// An operation is that of a rank in a call.
    pub fn note(&mut self, op: u32, call: u32) {
        self.ops.push((op, call));
    }

    /// The same with the operations at other positions.
    pub fn moved(mut self, place: &[u32]) -> Self {
        self.ops.iter_mut().for_each(|(op, _)| *op = place[*op as usize]);
        self.ops.sort_unstable();
        self
    }

    /// The call of an operation, if it is one.
    pub fn of(&self, op: u32) -> Option<Call> {
        let place = self.ops.binary_search_by_key(&op, |(own, _)| *own).ok()?;
        Some(self.list[self.ops[place].1 as usize])
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Divides the bytes of all calls.
    pub fn scale(&mut self, by: u64) {
        self.list.iter_mut().for_each(|call| call.bytes = call.bytes.div_ceil(by));
    }
}
