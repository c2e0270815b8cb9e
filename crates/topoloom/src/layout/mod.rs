//! Where routers stand on the machine floor, how long their cables are, and what all that costs.

mod cost;
mod placement;

pub use cost::{Cost, PriceList, cost};
pub use placement::Layout;
