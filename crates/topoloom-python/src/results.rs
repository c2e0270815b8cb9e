//! Results of the engine as objects of Python.

use std::any::type_name;
use std::marker::PhantomData;

use pyo3::prelude::*;
use serde::Serialize;

/// The module of Python that has a class for each type of result, generated from these types.
const CLASSES: &str = "topoloom.engine.results";

/// A result that Python gets as an object of the class of the same name.
pub struct Record<T> {
    json: String,
    class: PhantomData<fn() -> T>,
}

impl<T: Serialize> Record<T> {
    /// A result with its keys in the order of the alphabet, those of results within it too: as commands print lists,
    /// floors and permutations.
    pub fn sorted(result: &T) -> Self {
        let value = serde_json::to_value(result).expect("plain data serialises");
        Self { json: value.to_string(), class: PhantomData }
    }
}

/// A result with its keys in the order of its fields.
impl<T: Serialize> From<T> for Record<T> {
    fn from(result: T) -> Self {
        Self { json: json(&result), class: PhantomData }
    }
}

impl<'py, T> IntoPyObject<'py> for Record<T> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        let path = type_name::<T>();
        let name = path.rsplit_once("::").map_or(path, |(_, name)| name);
        py.import(CLASSES)?.getattr(name)?.call_method1("of_json", (self.json,))
    }
}

/// JSON of something that has no maps with keys other than strings, and so always serialises.
pub fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data serialises")
}
