//! Generates what Python mirrors of the crate: `make generate` runs it, `make lint` compares.
//!
//! `topoloom-dev DIRECTORY` reads the sources of the engine and of its bindings, asks the engine for its defaults, and
//! writes into DIRECTORY `results.py`, a class for each result that crosses to Python, `run_options.py`, the classes of
//! the options of the cycle engine, and `_core.pyi`, the stub of the bindings.

mod docs;
mod options;
mod results;
mod serde;
mod sources;
mod stub;
mod types;

use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

use sources::Sources;

fn main() -> ExitCode {
    let Some(directory) = env::args().nth(1) else {
        eprintln!("topoloom-dev DIRECTORY: where to write what is generated");
        return ExitCode::from(2);
    };
    match generate(Path::new(&directory)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn generate(directory: &Path) -> io::Result<()> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("it is next to the others");
    let engine = Sources::read(&crates.join("topoloom/src"))?;
    let bindings = Sources::read(&crates.join("topoloom-python/src"))?;
    let stub = stub::generate(&bindings).map_err(io::Error::other)?;
    let options = options::generate(&engine).map_err(io::Error::other)?;
    let results = results::generate(&engine.and(bindings), &stub.results).map_err(io::Error::other)?;
    fs::create_dir_all(directory)?;
    fs::write(directory.join("_core.pyi"), stub.text)?;
    fs::write(directory.join("run_options.py"), options)?;
    fs::write(directory.join("results.py"), results)
}
