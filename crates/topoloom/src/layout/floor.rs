//! The machine floor with all that is on it.

use serde::Serialize;

use super::{Aisle, Bill, Bundle, Cabinet, LengthCount};
use crate::error::Result;

/// The machine floor. The names are keys of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Floor {
    /// Rows of cabinets.
    pub rows: u32,
    /// Slots for cabinets in a row.
    pub columns: u32,
    /// Metres from a cabinet to the next one in its row.
    pub width_m: f64,
    /// Metres from a row to the next one, without the aisles between them.
    pub depth_m: f64,
    /// The aisles between rows.
    pub aisles: Vec<Aisle>,
    /// The cabinets.
    pub cabinets: Vec<Cabinet>,
    /// Cables by class, kind and length.
    pub lengths: Vec<LengthCount>,
    /// Cables between cabinets, bundled.
    pub bundles: Vec<Bundle>,
}

impl Bill<'_> {
    /// The machine floor.
    ///
    /// # Errors
    /// As [`cost`](super::cost).
    pub fn floor(&self) -> Result<Floor> {
        let ([rows, columns], rules) = (self.layout.floor(), self.layout.rules());
        Ok(Floor {
            rows,
            columns,
            width_m: rules.width_m,
            depth_m: rules.depth_m,
            aisles: self.layout.aisles(),
            cabinets: self.layout.cabinets(self.network),
            lengths: self.lengths()?,
            bundles: self.bundles()?,
        })
    }
}
