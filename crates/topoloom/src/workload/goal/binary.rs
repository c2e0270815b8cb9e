//! GOAL's binary form, as LogGOPSim's `txt2bin` writes it: numbers with their lowest byte first, a table of where each rank's
//! operations are, and for each rank operations of equal length with lists of what follows them.

use crate::error::several;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::{Late, Reader, What};

/// What a file begins with.
const COOKIE: u64 = 4223;

/// Bytes of an operation.
const OPERATION: usize = 39;

/// Stands for any rank, or any tag.
const ANY: u32 = u32::MAX;

/// True if a file may be a schedule in binary form.
pub fn is_binary(bytes: &[u8]) -> bool {
    bytes.get(..8).is_some_and(|first| first == COOKIE.to_le_bytes())
}

/// Reads a file, the part of one rank after the other; `at` is the operation of its rank that is being read.
pub fn read(file: &mut (impl Read + Seek), reader: &mut Reader, at: &mut usize) -> Result<(), Late> {
    let ended = || (None, "the file ends too early".to_owned());
    let failed = |error: io::Error| (None, error.to_string());
    let bytes = file.seek(SeekFrom::End(0)).map_err(failed)?;
    // All places count from behind the cookie.
    let (body, mut part) = (bytes.saturating_sub(8), Vec::new());
    load(file, 0..body.min(4), &mut part).map_err(failed)?;
    let ranks = Bytes(&part).u32(0).ok_or_else(ended)?;
    if ranks == 0 || body / 16 < ranks.into() {
        return Err((None, format!("it has {}, and {}", several(ranks, "rank"), several(bytes, "byte"))));
    }
    reader.ranks = Some(ranks);
    let mut table = Vec::new();
    load(file, 6..body.min(6 + 16 * u64::from(ranks)), &mut table).map_err(failed)?;
    for rank in 0..ranks {
        let entry = 16 * rank as usize;
        let [start, end] = [entry, entry + 8].map(|place| Bytes(&table).u64(place));
        let place = start.zip(end).filter(|(start, end)| start <= end && *end <= body);
        let (start, end) = place.ok_or_else(ended)?;
        load(file, start..end, &mut part).map_err(failed)?;
        read_rank(&Bytes(&part), rank, reader, at).map_err(|what| (Some(*at), format!("rank {rank}: {what}")))?;
    }
    reader.end()
}

/// Reads the bytes from one place to another, as far as there are any.
fn load(file: &mut (impl Read + Seek), part: Range<u64>, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    file.seek(SeekFrom::Start(8 + part.start))?;
    file.take(part.end.saturating_sub(part.start)).read_to_end(bytes)?;
    Ok(())
}

fn read_rank(part: &Bytes, rank: u32, reader: &mut Reader, at: &mut usize) -> Result<(), String> {
    let ended = || "its part of the file ends too early".to_owned();
    let [count, roots] = [0, 4].map(|place| part.u32(place).map(|number| number as usize));
    let (count, roots) = count.zip(roots).ok_or_else(ended)?;
    let first = 8 + 4 * roots;
    let lists = first + OPERATION * count;
    if lists > part.0.len() {
        return Err(ended());
    }
    let begin = reader.planned.len() as u32;
    for number in 0..count {
        *at = number;
        let place = first + OPERATION * number;
        let what = part.operation(place).ok_or_else(ended)??;
        reader.add(number, rank, None, what)?;
    }
    for number in 0..count {
        *at = number;
        for (list, start_only) in [(23, false), (31, true)] {
            let place = first + OPERATION * number + list;
            let (followers, from) = part.u32(place).zip(part.u32(place + 4)).ok_or_else(ended)?;
            for follower in 0..followers as usize {
                let later = part.u32(lists + 4 * (from as usize + follower)).ok_or_else(ended)?;
                if later as usize >= count {
                    return Err(format!("operation {later} follows it, and does not exist"));
                }
                reader.follows(begin + later, begin + number as u32, start_only);
            }
        }
    }
    Ok(())
}

/// Numbers in a part of a file.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn u32(&self, place: usize) -> Option<u32> {
        Some(u32::from_le_bytes(self.0.get(place..place + 4)?.try_into().ok()?))
    }

    fn u64(&self, place: usize) -> Option<u64> {
        Some(u64::from_le_bytes(self.0.get(place..place + 8)?.try_into().ok()?))
    }

    /// What an operation does; none if the bytes end before it does.
    fn operation(&self, place: usize) -> Option<Result<What, String>> {
        let kind = *self.0.get(place + 4)?;
        let (peer, size, tag) = (self.u32(place + 5)?, self.u64(place + 9)?, self.u32(place + 17)?);
        let cpu = u32::from(*self.0.get(place + 21)?);
        let named = |number: u32| Some(number).filter(|number| *number != ANY);
        Some(match kind {
            1 => Ok(What::Send { peer, tag, bytes: size }),
            2 => Ok(What::Receive { peer: named(peer), tag: named(tag), bytes: size }),
            3 => Ok(What::Compute { nanoseconds: size, cpu }),
            _ => Err(format!("it has the type {kind}; there are 1 to 3")),
        })
    }
}
