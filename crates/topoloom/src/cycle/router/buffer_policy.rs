//! Slots in buffers: how the VCs of a port share them, and what a packet needs to be sent.

use std::fmt::{Display, Formatter};
use std::str::FromStr;

use super::RouterOptions;
use crate::catalogue::grammar::split_head;
use crate::cycle::Setup;
use crate::cycle::flit::{ENTERS, Flit};
use crate::error::{Error, Result, several, unknown};

/// How the buffer of a port is divided among its VCs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Buffers {
    /// Each VC has its own slots.
    #[default]
    Private,
    /// Each VC has this many slots of its own, or those of the largest packet where that must fit whole; the VCs share
    /// the port's other slots, first come, first served.
    Shared(u32),
}

impl Buffers {
    /// The slots of each VC's own, and those that a port's VCs share, if there are `buffer` a VC and packets of up to
    /// `whole` flits must fit whole.
    ///
    /// A VC that is empty must always have room for any packet. Else packets of early classes could take all that is
    /// shared, and wait, from router to router, for a packet of a later class that waits for one of these slots.
    pub fn divide(self, buffer: u32, vcs: u32, whole: u32) -> (u32, u32) {
        match self {
            Self::Private => (buffer, 0),
            Self::Shared(reserve) => {
                let own = reserve.max(whole);
                (own, vcs * (buffer - own))
            }
        }
    }

    /// Checks that buffers of `buffer` flits a VC can be divided so.
    ///
    /// # Errors
    /// [`Error::Config`] for VCs without a place, or with more than there are.
    pub fn check(self, buffer: u32) -> Result<()> {
        let Self::Shared(reserve) = self else { return Ok(()) };
        if reserve == 0 {
            return Err(Error::Config(
                "buffers=shared:0 leaves VCs without a slot of their own, and packets could wait for each other \
                 without end; give each VC at least 1 flit"
                    .to_owned(),
            ));
        }
        if reserve > buffer {
            return Err(Error::Config(format!(
                "buffers=shared:{reserve} reserves more flits for a VC than its buffer of {buffer}; at most {buffer} are \
                 possible"
            )));
        }
        Ok(())
    }
}

/// The value of the key `buffers` of options that have been checked.
///
/// # Panics
/// If they have not.
pub fn of(options: &RouterOptions) -> Buffers {
    options.text("buffers").parse().expect("the options are checked")
}

/// Checks that a packet of `size` flits goes through buffers of `buffer` flits if all of it must fit, as `asked` states.
///
/// # Errors
/// [`Error::Config`] if it never can.
pub fn check_packet(asked: &str, size: u32, buffer: u32) -> Result<()> {
    if size <= buffer {
        return Ok(());
    }
    Err(Error::Config(format!(
        "{asked} sends packets only where all of them fits, but packets of {size} flits do not fit into buffers of {}",
        several(buffer, "flit")
    )))
}

impl FromStr for Buffers {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, rest) = split_head(text);
        match (name, rest.parse::<u32>()) {
            ("private", _) if rest.is_empty() => Ok(Self::Private),
            ("private", _) => Err(Error::Config(format!("buffers=private takes no number, but '{rest}' is given"))),
            ("shared", Ok(reserve)) => Ok(Self::Shared(reserve)),
            ("shared", Err(_)) => Err(Error::Config(format!(
                "buffers is '{text}'; shared buffers need the flits that are each VC's own: buffers=shared:5"
            ))),
            _ => Err(Error::Config(unknown("kind of buffers", name, ["private", "shared"]))),
        }
    }
}

impl Display for Buffers {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Private => write!(f, "private"),
            Self::Shared(reserve) => write!(f, "shared:{reserve}"),
        }
    }
}

/// How buffers are divided among the VCs of a port, and what flow control asks of them.
#[derive(Debug, Clone, Copy)]
pub struct BufferPolicy {
    /// Slots of each VC's own: all of them, unless VCs share some.
    pub reserve: u16,
    /// Slots that the VCs of a port share.
    pub pool: u32,
    /// Where fewer slots of a VC are taken, none waits for one of its credits: all of its own, or none where packets must fit
    /// whole.
    pub waited_from: u16,
    /// VCs (a bit each) that take a packet only if they are empty or have room for all of it.
    pub whole: u64,
    /// Virtual cut-through: packets take all their slots when they are given a VC, flits take none.
    pub cut_through: bool,
    /// Flits of the largest packet where rings keep bubbles, else 0. Every packet then takes as many slots as that: of
    /// packets of other sizes a ring could hold so many that its room is enough for none, though it is for one in all.
    pub bubble: u32,
}

impl BufferPolicy {
    /// The policy that the options ask for.
    pub fn new(setup: &Setup) -> Self {
        let cut_through = setup.interface.cut_through;
        let whole = if cut_through { u64::MAX } else { setup.whole };
        let (reserve, pool) = setup.places();
        let reserve = reserve as u16;
        let waited_from = if whole == 0 { reserve } else { 0 };
        Self { reserve, pool, waited_from, whole, cut_through, bubble: setup.bubble }
    }

    /// Slots that the packet of this head takes under virtual cut-through.
    #[inline(always)]
    pub fn places(&self, head: &Flit) -> u32 {
        self.bubble.max(head.size())
    }

    /// Slots that must be free for it: where it enters a ring, it leaves room for another.
    #[inline(always)]
    pub fn wanted(&self, head: &Flit) -> u32 {
        if head.kind & ENTERS == 0 { self.places(head) } else { 2 * self.bubble }
    }

    /// Slots among the shared ones that a VC with this many takes.
    #[inline(always)]
    pub fn shared(&self, occupancy: u32) -> u32 {
        occupancy.saturating_sub(self.reserve.into())
    }

    /// True if a packet fits into a VC whole. Without virtual cut-through others may take what is shared before the
    /// packet has come: only the VC's own slots count.
    #[inline(always)]
    pub fn fits(&self, occupancy: u16, shared: u32, size: u32) -> bool {
        let (before, after) = (u32::from(occupancy), u32::from(occupancy) + size);
        let free = if self.cut_through { self.pool - shared } else { 0 };
        occupancy == 0 || self.shared(after) - self.shared(before) <= free
    }

    /// The same where no slots are shared: by a VC's own alone.
    #[inline(always)]
    pub fn fits_own(&self, occupancy: u16, size: u32) -> bool {
        occupancy == 0 || u32::from(occupancy) + size <= self.reserve.into()
    }
}
