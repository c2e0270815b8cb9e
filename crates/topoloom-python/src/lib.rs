//! Python bindings: thin, without logic of their own. Results cross as objects of the classes of
//! `topoloom.engine.results`.

mod compute;
mod descriptions;
mod error;
mod flow;
mod layout;
mod lists;
mod network;
mod permute;
mod results;
mod routing;
mod simulation;
mod synthesis;
mod traffic;
mod watch;
mod workload;

use pyo3::prelude::*;

/// The module `topoloom._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("MODEL_VERSION", topoloom::MODEL_VERSION)?;
    module.add("DEFAULT_GBPS", topoloom::workload::DEFAULT_GBPS)?;
    module.add("TopoloomError", module.py().get_type::<error::TopoloomError>())?;
    module.add_class::<network::Network>()?;
    module.add_class::<routing::Routing>()?;
    module.add_class::<traffic::Traffic>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<layout::Layout>()?;
    module.add_class::<watch::CancelToken>()?;
    module.add_function(wrap_pyfunction!(layout::place_qap, module)?)?;
    module.add_function(wrap_pyfunction!(layout::metis_cabinet, module)?)?;
    module.add_function(wrap_pyfunction!(layout::rack_numbers, module)?)?;
    module.add_function(wrap_pyfunction!(layout::layout_assumptions, module)?)?;
    module.add_function(wrap_pyfunction!(permute::permute_list, module)?)?;
    module.add_function(wrap_pyfunction!(permute::bandwidth_side_by_side, module)?)?;
    module.add_function(wrap_pyfunction!(synthesis::synthesise, module)?)?;
    module.add_function(wrap_pyfunction!(routing::split_bound, module)?)?;
    module.add_class::<workload::Workload>()?;
    module.add_class::<workload::CyclePlay>()?;
    module.add_class::<workload::ChakraTraces>()?;
    module.add_function(wrap_pyfunction!(workload::room, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::student_t, module)?)?;
    module.add_function(wrap_pyfunction!(flow::flow_keys, module)?)?;
    module.add_function(wrap_pyfunction!(flow::endpoint_keys, module)?)?;
    module.add_function(wrap_pyfunction!(workload::noise_keys, module)?)?;
    module.add_function(wrap_pyfunction!(flow::flow_rates, module)?)?;
    module.add_function(wrap_pyfunction!(flow::flow_run, module)?)?;
    module.add_class::<workload::Job>()?;
    module.add_function(wrap_pyfunction!(workload::allocate, module)?)?;
    module.add_function(wrap_pyfunction!(flow::flow_check, module)?)?;
    module.add_function(wrap_pyfunction!(flow::flow_workload, module)?)?;
    module.add_function(wrap_pyfunction!(flow::flow_replay, module)?)?;
    module.add_function(wrap_pyfunction!(lists::unknown, module)?)?;
    module.add_function(wrap_pyfunction!(lists::concise, module)?)?;
    module.add_function(wrap_pyfunction!(lists::available_memory, module)?)?;
    module.add_function(wrap_pyfunction!(lists::families, module)?)?;
    module.add_function(wrap_pyfunction!(lists::hosts, module)?)?;
    module.add_function(wrap_pyfunction!(lists::machines, module)?)?;
    module.add_function(wrap_pyfunction!(lists::layouts, module)?)?;
    module.add_function(wrap_pyfunction!(lists::routing_in_role, module)?)?;
    module.add_function(wrap_pyfunction!(lists::price_lists, module)?)?;
    module.add_function(wrap_pyfunction!(lists::price_list, module)?)?;
    module.add_function(wrap_pyfunction!(lists::router_costs, module)?)?;
    module.add_function(wrap_pyfunction!(lists::bytes_per_second, module)?)?;
    module.add_function(wrap_pyfunction!(lists::formats, module)?)?;
    module.add_function(wrap_pyfunction!(lists::format_of, module)?)?;
    module.add_function(wrap_pyfunction!(lists::files_of, module)?)?;
    module.add_class::<lists::PyName>()?;
    module.add_function(wrap_pyfunction!(lists::adapts_by_name, module)?)?;
    module.add_function(wrap_pyfunction!(lists::family_of, module)?)?;
    module.add_function(wrap_pyfunction!(lists::head, module)?)?;
    module.add_function(wrap_pyfunction!(lists::split_names, module)?)?;
    module.add_function(wrap_pyfunction!(lists::parse_pairs, module)?)?;
    module.add_function(wrap_pyfunction!(lists::processors, module)?)?;
    module.add_function(wrap_pyfunction!(lists::routings, module)?)?;
    module.add_function(wrap_pyfunction!(lists::router_models, module)?)?;
    module.add_function(wrap_pyfunction!(simulation::router_settings, module)?)?;
    module.add_function(wrap_pyfunction!(lists::apps, module)?)?;
    module.add_function(wrap_pyfunction!(lists::mappings, module)?)?;
    module.add_function(wrap_pyfunction!(lists::allocators, module)?)?;
    module.add_function(wrap_pyfunction!(lists::traffic_patterns, module)?)
}
