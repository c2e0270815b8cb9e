//! Layouts: cabinets, cables, cost.

use pyo3::prelude::*;
use serde_json::json;
use topoloom::layout::{self, Bill, End, PriceList, Rules};

use crate::error::raise;
use crate::network::{Network, json};

/// (router, port, cabinet) at the near end of a cable, the same at its far end, the terminal that stands there instead,
/// class, metres, kind, dollars.
type CableRow<'a> =
    ((u32, u32, u32), Option<(u32, u32, u32)>, Option<u32>, &'static str, f64, Option<&'a str>, Option<f64>);

/// A network laid out on the machine floor, at the prices of a list.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Layout {
    network: Py<Network>,
    layout: layout::Layout,
    prices: PriceList,
}

impl Layout {
    /// Computes something without the interpreter's lock.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        compute: impl Send + FnOnce(Bill<'_>) -> topoloom::Result<T>,
    ) -> PyResult<T> {
        let network = self.network.get().0.intact();
        raise(py.detach(|| compute(Bill { network, layout: &self.layout, prices: &self.prices })))
    }
}

#[pymethods]
impl Layout {
    /// `rules` as users type them; `prices` the name of a list, or one's own as JSON; nothing: the defaults.
    #[new]
    #[pyo3(signature = (network, rules = "", prices = ""))]
    fn new(py: Python<'_>, network: Py<Network>, rules: &str, prices: &str) -> PyResult<Self> {
        let prices = raise(PriceList::read(prices))?;
        // A machine is built whole: what fails later is in it.
        let of = network.get().0.intact();
        let layout = raise(py.detach(|| layout::Layout::new(of, &Rules::parse(rules)?)))?;
        Ok(Self { network, layout, prices })
    }

    /// Cost and power in parts, as a JSON object.
    fn cost_json(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |bill| bill.total()).map(|cost| json(&cost))
    }

    /// `rows`, `columns`, `cabinets` (a list) and `lengths` (cables by class and length), as a JSON object.
    fn floor_json(&self, py: Python<'_>) -> PyResult<String> {
        let lengths = self.with(py, |bill| bill.lengths())?;
        let [rows, columns] = self.layout.floor();
        let cabinets = self.layout.cabinets(self.network.get().0.intact());
        Ok(json!({"rows": rows, "columns": columns, "cabinets": cabinets, "lengths": lengths}).to_string())
    }

    /// Every cable: (router, port, cabinet) at the near end, the same at the far end or the terminal there, class,
    /// metres, kind, dollars.
    fn cables(&self, py: Python<'_>) -> PyResult<Vec<CableRow<'_>>> {
        self.with(py, |bill| {
            let end = |port| {
                let (router, local) = bill.network.local_port(port);
                (router.0, local, bill.layout.cabinet(router))
            };
            let rows = bill.cables().map(|cable| {
                let cable = cable?;
                let (far, terminal) = match cable.end {
                    End::Port(port) => (Some(end(port)), None),
                    End::Terminal(terminal) => (None, Some(terminal.0)),
                };
                let kind = cable.price.map(|(kind, _)| self.prices.cables[kind].kind.as_str());
                let usd = cable.price.map(|(_, usd)| usd);
                Ok((end(cable.port), far, terminal, cable.class.name(), cable.length_m, kind, usd))
            });
            rows.collect()
        })
    }
}
