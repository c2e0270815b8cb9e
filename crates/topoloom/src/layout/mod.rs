//! Where routers stand on the machine floor, how long their cables are, and what all that costs.

mod bill;
mod packing;
mod placement;
mod prices;
mod qap;
mod rules;

pub use bill::{Bill, Bundle, Cable, Cost, End, KindTotal, LengthCount, cost};
pub use packing::Packing;
pub use placement::{Cabinet, Layout};
pub use prices::{CableKind, CablePlace, NicPrice, PriceList, RouterPrice};
pub use qap::Qap;
pub use rules::{KEYS as LAYOUT_KEYS, PRESETS as LAYOUT_PRESETS, Rules};
