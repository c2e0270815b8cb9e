//! GOAL's binary form, as LogGOPSim's `txt2bin` writes it: numbers with their lowest byte first, a table of where each rank's
//! operations are, and for each rank operations of equal length with lists of what follows them.

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

/// Reads a whole file; `at` is the operation of its rank that is being read.
pub fn read(bytes: &[u8], reader: &mut Reader, at: &mut usize) -> Result<(), Late> {
    let ended = || (None, "the file ends too early".to_owned());
    // All places count from behind the cookie.
    let body = Bytes(&bytes[8..]);
    let ranks = body.u32(0).ok_or_else(ended)?;
    if ranks == 0 || body.0.len() / 16 < ranks as usize {
        return Err((None, format!("it has {ranks} ranks, and {} bytes", bytes.len())));
    }
    reader.ranks = Some(ranks);
    for rank in 0..ranks {
        let entry = 6 + 16 * rank as usize;
        let [start, end] = [body.u64(entry), body.u64(entry + 8)].map(|place| place.map(|place| place as usize));
        let part = start.zip(end).and_then(|(start, end)| body.0.get(start..end)).ok_or_else(ended)?;
        read_rank(&Bytes(part), rank, reader, at).map_err(|what| (Some(*at), format!("rank {rank}: {what}")))?;
    }
    reader.end()
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
