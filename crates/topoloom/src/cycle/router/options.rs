//! A router model with the options that it was given.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::key::{Key, Unless, Value, typed};
use super::{ROUTERS, RouterInfo, Wishes, named};
use crate::error::{Error, Result, unknown};

/// A router model, and the values of those of its options that are given.
#[derive(Debug, Clone)]
pub struct RouterOptions {
    model: &'static RouterInfo,
    given: BTreeMap<&'static str, Value>,
}

impl Default for RouterOptions {
    fn default() -> Self {
        Self { model: ROUTERS[0], given: BTreeMap::new() }
    }
}

/// Alike if they run alike: a default that is given is the default.
impl PartialEq for RouterOptions {
    fn eq(&self, other: &Self) -> bool {
        self.model.name == other.model.name && keys().iter().all(|key| self.get(key.name) == other.get(key.name))
    }
}

/// The keys of all models, in the order in which users see them. A key that earlier models lack comes after the key
/// that it follows in its own model.
pub fn keys() -> Vec<&'static Key> {
    let mut all: Vec<&'static Key> = Vec::new();
    for model in ROUTERS {
        let mut place = 0;
        for key in model.keys {
            match all.iter().position(|other| other.name == key.name) {
                Some(known) => place = known + 1,
                None => {
                    all.insert(place, key);
                    place += 1;
                }
            }
        }
    }
    all
}

impl RouterOptions {
    /// The model that users call `model`, with what goes with it by itself and these values.
    ///
    /// # Errors
    /// [`Error::Config`] for a model or a key that does not exist.
    pub fn new<'a>(model: &str, given: impl IntoIterator<Item = (&'a str, Value)>) -> Result<Self> {
        let model = named(model)?;
        let preset = model.preset.iter().map(|(key, value)| (*key, value.clone()));
        let mut this = Self { model, given: preset.collect() };
        given.into_iter().try_for_each(|(key, value)| this.set(key, value))?;
        Ok(this)
    }

    /// The model.
    pub fn model(&self) -> &'static RouterInfo {
        self.model
    }

    /// Gives an option of any model; whether this one has it is checked with all the rest.
    ///
    /// # Errors
    /// [`Error::Config`] for a key that no model has.
    pub fn set(&mut self, key: &str, value: impl Into<Value>) -> Result<()> {
        let known = keys();
        let found = known.iter().find(|known| known.name == key);
        let key = found.ok_or_else(|| Error::Config(unknown("option", key, known.iter().map(|key| key.name))))?;
        self.given.insert(key.name, value.into());
        Ok(())
    }

    /// True for what JSON calls the model or one of its options.
    pub fn names(&self, name: &str) -> bool {
        name == "model" || self.model.key(name).is_some()
    }

    /// Gives an option of this model that depends on others, unless it is given.
    pub fn fill(&mut self, key: &'static str, value: impl Into<Value>) {
        self.given.entry(key).or_insert_with(|| value.into());
    }

    /// Writes an option of this model again.
    pub fn write(&mut self, key: &'static str, value: impl Into<Value>) {
        self.given.insert(key, value.into());
    }

    /// Takes the option `key` back: it is as if it had not been given.
    pub fn forget(&mut self, key: &str) {
        self.given.remove(key);
    }

    /// The value of an option: as given, else what it is unless given; `None` if it depends on something.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.given.get(key).or_else(|| self.model.key(key).and_then(|key| key.unless.value()))
    }

    /// A whole number, as [`RouterOptions::get`]; `None` also for what is not one.
    pub fn find_int(&self, key: &str) -> Option<u32> {
        match self.get(key) {
            Some(Value::Int(value)) => Some(*value),
            _ => None,
        }
    }

    /// A whole number that does not depend on anything, or has been filled in.
    ///
    /// # Panics
    /// If the model has no such key: a mistake in the model.
    pub fn int(&self, key: &str) -> u32 {
        self.find_int(key).unwrap_or_else(|| panic!("{}: {key} is no whole number that is known", self.model.name))
    }

    /// A number, likewise.
    ///
    /// # Panics
    /// As [`RouterOptions::int`].
    pub fn real(&self, key: &str) -> f64 {
        match self.get(key) {
            Some(Value::Real(value)) => *value,
            Some(Value::Int(value)) => f64::from(*value),
            _ => panic!("{}: {key} is no number that is known", self.model.name),
        }
    }

    /// A text, likewise.
    ///
    /// # Panics
    /// As [`RouterOptions::int`].
    pub fn text(&self, key: &str) -> &str {
        self.find_text(key).unwrap_or_else(|| panic!("{}: {key} is no text that is known", self.model.name))
    }

    /// A text, as [`RouterOptions::get`]; `None` also for what is not one.
    pub fn find_text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(value)) => Some(value),
            _ => None,
        }
    }

    /// Checks every option by itself, and against the others; packets have up to `largest` flits.
    ///
    /// # Errors
    /// [`Error::Config`] names the option and what is allowed.
    pub fn check(&self, largest: u32) -> Result<()> {
        for key in self.model.keys.iter().filter(|key| !matches!(key.unless, Unless::Fixed(..))) {
            self.given.get(key.name).map_or(Ok(()), |value| key.check(value))?;
        }
        self.given.iter().try_for_each(|(name, value)| self.check_owner(name, value))?;
        (self.model.check)(self, largest)
    }

    /// Checks that the model has an option that is given. The first model's default does no harm: a caller that gives
    /// all options gives that.
    fn check_owner(&self, name: &str, value: &Value) -> Result<()> {
        let own = self.model.key(name);
        let why = own.map_or(Some(""), |key| key.unless.why_not());
        let harmless = [own, ROUTERS[0].key(name)].into_iter().flatten().any(|key| key.unless.value() == Some(value));
        match why {
            None => Ok(()),
            Some(_) if harmless => Ok(()),
            Some("") => Err(Error::Config(format!("{} is for {}", typed(name), owners(name)))),
            Some(why) => Err(Error::Config(format!("model={} has no {}: {why}", self.model.name, typed(name)))),
        }
    }

    /// All options, with everything filled in that depends on the model, and on what network and routing do well with.
    pub fn filled(&self, wishes: &Wishes) -> Self {
        let mut given = self.given.clone();
        given.retain(|name, _| self.model.key(name).is_some());
        for key in self.model.keys {
            match (key.unless.value(), key.unless.why_not()) {
                (Some(value), Some(_)) => drop(given.insert(key.name, value.clone())),
                (Some(value), None) => drop(given.entry(key.name).or_insert_with(|| value.clone())),
                (None, _) => {}
            }
        }
        let mut filled = Self { model: self.model, given };
        (self.model.fill)(&mut filled, wishes);
        filled
    }

    /// Takes the model and its options out of a JSON object; those that are null are not given.
    ///
    /// # Errors
    /// [`Error::Config`] for a model that does not exist, or a value of another kind than its key's.
    pub fn take(object: &mut serde_json::Map<String, serde_json::Value>) -> Result<Self> {
        let model = match object.remove("model") {
            None => ROUTERS[0].name.to_owned(),
            Some(serde_json::Value::String(model)) => model,
            Some(other) => return Err(Error::Config(format!("model is {other}; it must be the name of a model"))),
        };
        let mut this = Self::new(&model, [])?;
        for key in keys() {
            match object.remove(key.name) {
                None => {}
                Some(serde_json::Value::Null) => this.forget(key.name),
                Some(value) => drop(this.given.insert(key.name, key.read(&value)?)),
            }
        }
        Ok(this)
    }
}

/// The models that have a key, and no other.
fn owners(key: &str) -> String {
    let has = |model: &&&RouterInfo| model.key(key).is_some_and(|key| key.unless.why_not().is_none());
    let owners: Vec<String> = ROUTERS.iter().filter(has).map(|model| format!("model={}", model.name)).collect();
    let alone = if owners.len() == 1 { "which alone has it" } else { "which alone have it" };
    format!("{}, {alone}", owners.join(" and "))
}

/// The model, and its options in its own order: those that are given, and those that users see a default of.
impl Serialize for RouterOptions {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let seen = |key: &'static Key| {
            let default = if let Unless::Is(value) = &key.unless { Some(value) } else { None };
            self.given.get(key.name).or(default).map(|value| (key.name, value))
        };
        let model = Value::from(self.model.name);
        serializer.collect_map(std::iter::once(("model", &model)).chain(self.model.keys.iter().filter_map(seen)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cycle::Config;

    fn read(text: &str) -> Result<Config> {
        serde_json::from_str(text).map_err(|error| Error::Config(error.to_string()))
    }

    fn mistake(text: &str) -> String {
        read(text).and_then(|config| config.check()).expect_err(text).to_string()
    }

    #[test]
    fn every_model_runs_as_it_is_and_says_what_it_does() {
        for model in ROUTERS {
            let config = Config::of(model.name).expect("a model");
            config.check().expect(model.name);
            assert!(!model.summary.is_empty() && !model.source.is_empty(), "{}", model.name);
            for key in model.keys {
                assert!(!key.doc.is_empty() && !key.doc.ends_with('.'), "{}", key.name);
                key.unless.value().map_or(Ok(()), |value| key.check(value)).expect(key.name);
            }
            let told = (model.describe)(&config.router);
            assert!(told[0].0 == "Router model" && told[0].1.starts_with(model.name), "{told:?}");
            // Filled in, every option is in results, but for what the routing decides later.
            let filled =
                serde_json::to_value(config.router.filled(&Wishes { vcs: 1, ..Wishes::default() })).expect("JSON");
            let missing = model.keys.iter().filter(|key| filled.get(key.name).is_none());
            assert!(missing.into_iter().all(|key| matches!(key.unless, Unless::Depends(_))), "{filled}");
        }
    }

    #[test]
    fn a_model_brings_what_goes_with_it_unless_other_things_are_given() {
        let vct = read(r#"{"model": "vct", "buffer": 9, "links": {"local": 3}}"#).expect("options");
        let by_name = |key| vct.router.int(key);
        assert_eq!((by_name("vcs"), by_name("buffer"), by_name("routing_delay")), (4, 9, 36));
        assert_eq!((vct.router.text("flow"), vct.packet.largest()), ("vct", 33));
        assert_eq!((vct.links.local, vct.links.global), (3, 1));
        assert_eq!(read(r#"{"model": "vct"}"#).expect("options"), Config::of("vct").expect("a model"));
        let nulls = read(r#"{"model": "vct", "vcs": null}"#).expect("options");
        assert_eq!(nulls.router.find_int("vcs"), None, "null is not given, and nothing stands for it");
    }

    #[test]
    fn what_is_written_is_read_back() {
        for text in ["{}", r#"{"model": "vct"}"#, r#"{"model": "extoll", "tcs": 2, "tc_use": "all", "seed": 7}"#] {
            let config = read(text).expect("options");
            let written = serde_json::to_string(&config).expect("JSON");
            assert_eq!(read(&written).expect("options"), config, "{written}");
        }
    }

    #[test]
    fn mistakes_name_the_option() {
        assert!(mistake(r#"{"model": "iqq"}"#).contains("did you mean 'iq'"));
        assert!(mistake(r#"{"model": 3}"#).contains("it must be the name of a model"));
        assert!(mistake(r#"{"vcz": 3}"#).contains("unknown field `vcz`"));
        assert!(mistake(r#"{"vcs": 65}"#).contains("vcs is 65; it must be from 1 to 64"));
        assert!(mistake(r#"{"vcs": "four"}"#).contains("vcs is \"four\"; it must be from 1 to 64"));
        assert!(mistake(r#"{"speedup": 0.5}"#).contains("speedup is 0.5; it must be from 1 to 16"));
        assert!(mistake(r#"{"flow": "cut"}"#).contains("flow is 'cut'; it must be 'wormhole' or 'vct'"));
        assert!(mistake(r#"{"tcs": 2}"#).contains("tcs is for model=extoll, which alone has it"));
        assert!(mistake(r#"{"model": "extoll", "vcs": 4}"#).contains("model=extoll has no vcs: tcs, tc-vcs"));
        assert!(mistake(r#"{"model": "extoll", "speedup": 3}"#).contains("model=extoll has no speedup"));
        read(r#"{"model": "extoll", "speedup": 2.0}"#).expect("options").check().expect("the usual does no harm");
        assert!(RouterOptions::new("iq", [("vcz", 3.into())]).expect_err("a typo").to_string().contains("'vcs'"));
    }

    #[test]
    fn keys_stand_where_their_model_has_them() {
        let names: Vec<&str> = keys().iter().map(|key| key.name).collect();
        let place = |name| names.iter().position(|other| *other == name).expect(name);
        assert_eq!(place("buffer_delay"), place("credit_delay") + 1);
        assert_eq!((place("iterations") + 1, place("priority") + 1), (place("priority"), names.len()));
        assert!(ROUTERS.iter().all(|model| model.keys.iter().map(|key| place(key.name)).is_sorted()));
    }
}
