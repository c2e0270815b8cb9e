//! One point of a curve, for profilers: `point SPEC ROUTING TRAFFIC LOAD [JSON-CONFIG]`.

use topoloom::cycle::{Config, simulate};
use topoloom::watch::NoControl;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, spec, routing, traffic, load, rest @ ..] = args.as_slice() else {
        eprintln!("usage: point SPEC ROUTING TRAFFIC LOAD [JSON-CONFIG]");
        std::process::exit(2);
    };
    let run = || {
        let config: Config = match rest.first() {
            Some(text) => serde_json::from_str(text).map_err(|e| topoloom::Error::Config(e.to_string()))?,
            None => Config::default(),
        };
        let network = topoloom::topology::build(spec)?;
        let load = load.parse().map_err(|_| topoloom::Error::Config(format!("the load is '{load}'")))?;
        simulate(&network, routing, traffic, load, &config, &NoControl)
    };
    match run() {
        Ok(point) => {
            println!("{}", serde_json::to_string(&point).expect("a point is plain data"));
            eprintln!(
                "{:.2} M flit-hops/s, {:.0} cycles/s",
                point.flit_hops as f64 / point.cpu_s / 1e6,
                point.cycles as f64 / point.cpu_s
            );
        }
        Err(error) => {
            eprintln!("{error}");
            std::process::exit(2);
        }
    }
}
