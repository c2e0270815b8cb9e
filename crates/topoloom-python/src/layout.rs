//! Layouts: cabinets, cables, cost.

use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use topoloom::layout::{self, Bill, Cost, End, Floor, Item, PriceList, RackNumbers, Rules};

use crate::compute::{compute, try_compute};
use crate::error::raise;
use crate::network::Network;
use crate::results::Record;

/// (router, port, cabinet, rack unit).
type EndRow = (u32, u32, u32, u32);
/// The kind of cable that is bought, its metres, dollars.
type PurchaseRow<'a> = (&'a str, f64, f64);
/// The near end of a cable; its far end, or else the terminal there and its cabinet; its class; metres; the purchase.
type CableRow<'a> = (EndRow, Option<EndRow>, Option<(u32, u32)>, &'static str, f64, Option<PurchaseRow<'a>>);

/// A network laid out on the machine floor, at the prices of a list.
#[pyclass(frozen, module = "topoloom._core")]
pub struct Layout {
    network: Py<Network>,
    layout: layout::Layout,
    prices: PriceList,
}

impl Layout {
    /// Computes something without the interpreter's lock.
    fn with<T: Send>(&self, py: Python<'_>, tell: impl Send + FnOnce(Bill<'_>) -> topoloom::Result<T>) -> PyResult<T> {
        let network = self.network.get().network.bought();
        try_compute(py, || tell(Bill { network, layout: &self.layout, prices: &self.prices }))
    }
}

#[pymethods]
impl Layout {
    /// `rules` as users type them; `prices` the name of a list, or a custom list as JSON; without them the defaults,
    /// which for prices depend on the network's rate.
    /// `packed` is a partition of the routers for `cabinet=metis:N`, which is made to fit.
    #[new]
    #[pyo3(signature = (network, rules = "", prices = "", packed = None))]
    fn new(
        py: Python<'_>,
        network: Py<Network>,
        rules: &str,
        prices: &str,
        packed: Option<Vec<u32>>,
    ) -> PyResult<Self> {
        let asked = if prices.is_empty() { None } else { Some(raise(PriceList::read(prices))?) };
        // A machine is built whole: what fails later is in it. Hosts are what it is built for.
        let of = network.get().network.bought();
        let usual = rules.trim().is_empty();
        let (layout, prices) = try_compute(py, || {
            let rules = Rules::parse(rules)?;
            let layout = match packed {
                None if usual => layout::Layout::usual(of),
                Some(packed) => layout::Layout::with_cabinets(of, &rules, rules.cabinet.fitted(of, packed)?)?,
                None => layout::Layout::new(of, &rules)?,
            };
            let prices = asked.unwrap_or_else(|| layout::usual_prices(of, &layout).clone());
            Ok((layout, prices))
        })?;
        Ok(Self { network, layout, prices })
    }

    /// Cost and power in parts.
    fn cost(&self, py: Python<'_>) -> PyResult<Record<Cost>> {
        self.with(py, |bill| bill.total()).map(Record::from)
    }

    /// The floor, its cabinets, lengths and bundles of cables.
    fn floor(&self, py: Python<'_>) -> PyResult<Record<Floor>> {
        self.with(py, |bill| bill.floor().map(|floor| Record::sorted(&floor)))
    }

    /// The bill of materials, item by item.
    fn bill(&self, py: Python<'_>) -> PyResult<Vec<Record<Item>>> {
        self.with(py, |bill| Ok(bill.items()?.into_iter().map(Record::from).collect()))
    }

    /// Every cable: (router, port, cabinet, rack unit) at the near end, the same at the far end or the terminal there
    /// and its cabinet, class, metres, and what is bought for it (kind, metres, dollars).
    fn cables(&self, py: Python<'_>) -> PyResult<Vec<CableRow<'_>>> {
        self.with(py, |bill| {
            let end = |port| {
                let (router, local) = bill.network.local_port(port);
                (router.0, local, bill.layout.cabinet(router), bill.layout.unit(router))
            };
            let rows = bill.cables().map(|cable| {
                let cable = cable?;
                let (far, terminal) = match cable.end {
                    End::Port(port) => (Some(end(port)), None),
                    End::Terminal(terminal) => {
                        (None, Some((terminal.0, bill.layout.terminal_cabinet(bill.network, terminal))))
                    }
                };
                let kind = |kind: usize| self.prices.cables[kind].kind.as_str();
                let bought = cable.bought.map(|bought| (kind(bought.kind), bought.length_m, bought.usd));
                Ok((end(cable.port), far, terminal, cable.class.name(), cable.length_m, bought))
            });
            rows.collect()
        })
    }
}

/// Places for facilities between which there are `flows` (a, b, how much), and their cost, by annealing; `distances`
/// are those of each place to each.
#[pyfunction]
pub fn place_qap(
    py: Python<'_>,
    flows: Vec<(u32, u32, f64)>,
    distances: PyReadonlyArray2<'_, f64>,
    seed: u64,
) -> PyResult<(Vec<u32>, f64)> {
    let (places, values) = (distances.shape()[0], distances.as_array().iter().copied().collect());
    compute(py, || {
        let qap = layout::Qap::new(places, flows, values);
        let found = qap.anneal(seed);
        let cost = qap.cost(&found);
        (found, cost)
    })
}

/// The numbers of the rule `rack` with the keys of `rules`; nothing if they are another layout's.
#[pyfunction]
pub fn rack_numbers(rules: &str) -> PyResult<Option<Record<RackNumbers>>> {
    let rules = raise(Rules::parse(rules))?;
    Ok(rules.rack_numbers().map(Record::from))
}

/// What a layout assumes, in a sentence.
#[pyfunction]
pub fn layout_assumptions(rules: &str) -> PyResult<String> {
    raise(Rules::parse(rules)).map(|rules| rules.assumptions())
}

/// What a layout without `cabinet=metis:N` has no need of: N, if the rules state that.
#[pyfunction]
pub fn metis_cabinet(rules: &str) -> PyResult<Option<u32>> {
    raise(Rules::parse(rules)).map(|rules| rules.cabinet.metis())
}
