//! Where routers are on the machine floor, how long their cables are, and what all that costs.

mod bill;
mod floor;
mod items;
mod packing;
mod placement;
mod prices;
mod qap;
mod racks;
mod rules;

pub use bill::{Bill, Bundle, Cable, Cost, End, KindTotal, LengthCount, cost, usual_prices};
pub use floor::Floor;
pub use items::{Item, Part};
pub use packing::{Packing, note_on_nodes};
pub use placement::{Aisle, Cabinet, Layout};
pub use prices::{
    CableKind, CablePlace, CablePurchase, EnergyPrice, NicPrice, PriceFigure, PriceList, RouterPrice, RouterPurchase,
    SwitchPrice,
};
pub use qap::Qap;
pub use racks::{Order, RackNumbers, Racking};
pub use rules::{
    ENTRY as LAYOUT, KEYS as LAYOUT_KEYS, PRESETS as LAYOUT_PRESETS, Preset as LayoutPreset, Rows, Rules, name,
    read as read_keys,
};
