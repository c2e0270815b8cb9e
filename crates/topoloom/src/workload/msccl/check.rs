//! Carries contributions through a schedule, and compares what each GPU ends with to what the collective promises.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Messages, Place, Schedule, Wrong};

/// What a chunk holds: chunks of the inputs of GPUs, combined.
type Value = Option<BTreeSet<(u32, u32)>>;

/// Checks the collectives that are known; of others nothing is promised.
pub fn check(schedule: &Schedule, messages: &Messages) -> Result<(), Wrong> {
    let Some(promise) = Promise::of(schedule) else { return Ok(()) };
    let mut run = Run::new(schedule, messages);
    run.all()?;
    for gpu in 0..schedule.gpus.len() as u32 {
        for chunk in 0..schedule.gpus[gpu as usize].0[1].max(if schedule.in_place { promise.outputs } else { 0 }) {
            let Some(wanted) = promise.wanted(gpu, chunk) else { continue };
            let found = run.value(gpu as usize, (1, chunk)).clone();
            if found.as_ref() != Some(&wanted) {
                return Err((1, promise.broken(gpu, chunk, &wanted, &found)));
            }
        }
    }
    Ok(())
}

/// What a collective promises of outputs.
struct Promise<'a> {
    collective: &'a str,
    gpus: u32,
    inputs: u32,
    outputs: u32,
}

impl<'a> Promise<'a> {
    fn of(schedule: &'a Schedule) -> Option<Self> {
        let (gpus, [inputs, outputs, _]) = (schedule.gpus.len() as u32, schedule.gpus.first()?.0);
        let outputs = match schedule.collective.as_str() {
            "allreduce" | "alltoall" => inputs,
            "allgather" => inputs * gpus,
            "reducescatter" | "reduce_scatter" if inputs % gpus == 0 => inputs / gpus,
            _ => return None,
        }
        .max(outputs);
        Some(Self { collective: &schedule.collective, gpus, inputs, outputs })
    }

    /// The contributions that an output chunk must hold.
    fn wanted(&self, gpu: u32, chunk: u32) -> Option<BTreeSet<(u32, u32)>> {
        let (gpus, inputs) = (self.gpus, self.inputs);
        let of_all = |chunk: u32| (0..gpus).map(|other| (other, chunk)).collect();
        match self.collective {
            "allreduce" => (chunk < inputs).then(|| of_all(chunk)),
            "allgather" => (chunk < inputs * gpus).then(|| [(chunk / inputs, chunk % inputs)].into()),
            "alltoall" => {
                let each = inputs / gpus;
                (each > 0 && chunk < inputs).then(|| [(chunk / each, gpu * each + chunk % each)].into())
            }
            _ => {
                let each = inputs / gpus;
                (chunk < each).then(|| of_all(gpu * each + chunk))
            }
        }
    }

    fn broken(&self, gpu: u32, chunk: u32, wanted: &BTreeSet<(u32, u32)>, found: &Value) -> String {
        let empty = BTreeSet::new();
        let found = found.as_ref().unwrap_or(&empty);
        let name = |&(gpu, chunk): &(u32, u32)| format!("chunk {chunk} of gpu {gpu}");
        let more = match (wanted.difference(found).next(), found.difference(wanted).next()) {
            (Some(missing), _) => format!("{} is missing in it", name(missing)),
            (None, Some(other)) => format!("{} is in it", name(other)),
            (None, None) => "it is another one".to_owned(),
        };
        format!("the schedule is no {}: chunk {chunk} of the output of gpu {gpu} is wrong, {more}", self.collective)
    }
}

/// A schedule that is being carried out.
struct Run<'a> {
    schedule: &'a Schedule,
    messages: &'a Messages,
    /// By GPU, buffer and chunk.
    values: HashMap<(usize, usize, u32), Value>,
    under_way: HashMap<u32, Vec<Value>>,
}

impl<'a> Run<'a> {
    fn new(schedule: &'a Schedule, messages: &'a Messages) -> Self {
        let mut values = HashMap::new();
        for (gpu, (chunks, _)) in schedule.gpus.iter().enumerate() {
            for chunk in 0..chunks[0] {
                values.insert((gpu, 0, chunk), Some([(gpu as u32, chunk)].into()));
            }
        }
        Self { schedule, messages, values, under_way: HashMap::new() }
    }

    /// Where a chunk is: schedules in place write their output where the input is.
    fn key(&self, gpu: usize, (buffer, chunk): (usize, u32)) -> (usize, usize, u32) {
        if buffer != 1 || !self.schedule.in_place {
            return (gpu, buffer, chunk);
        }
        let inputs = self.schedule.gpus[gpu].0[0];
        match self.schedule.collective.as_str() {
            // The input of an all-gather is its own part of the output, the output of a reduce-scatter that of the input.
            "allgather" => {
                let own = chunk.checked_sub(gpu as u32 * inputs).filter(|own| *own < inputs);
                own.map_or((gpu, 1, chunk), |own| (gpu, 0, own))
            }
            "reducescatter" | "reduce_scatter" => {
                (gpu, 0, gpu as u32 * (inputs / self.schedule.gpus.len() as u32) + chunk)
            }
            _ => (gpu, 0, chunk),
        }
    }

    fn value(&self, gpu: usize, at: (usize, u32)) -> &Value {
        self.values.get(&self.key(gpu, at)).unwrap_or(&None)
    }

    /// Takes all steps, each once what it waits for is done.
    fn all(&mut self) -> Result<(), Wrong> {
        let mut left: Vec<Place> = self.schedule.places().collect();
        let mut done: HashSet<Place> = HashSet::new();
        while !left.is_empty() {
            let before = left.len();
            let mut waiting = Vec::new();
            for place in left {
                let comes = self.messages.received.get(&place).is_none_or(|id| self.under_way.contains_key(id));
                if comes && self.schedule.before(place).all(|before| done.contains(&before)) {
                    self.take(place)?;
                    done.insert(place);
                } else {
                    waiting.push(place);
                }
            }
            left = waiting;
            if left.len() == before {
                return Err((self.schedule.step(left[0]).line, "this step waits without end".to_owned()));
            }
        }
        Ok(())
    }

    /// Takes one step.
    fn take(&mut self, place: Place) -> Result<(), Wrong> {
        let (gpu, step) = (place.0, self.schedule.step(place));
        let at = |(buffer, first): (usize, u32), chunk: u32| (buffer, first + chunk);
        let mut values: Vec<Value> = match self.messages.received.get(&place) {
            Some(id) => self.under_way.remove(id).unwrap_or_default(),
            None => (0..step.chunks).map(|chunk| self.value(gpu, at(step.from, chunk)).clone()).collect(),
        };
        if let Some(chunk) = values.iter().position(Option::is_none) {
            return Err((step.line, format!("gpu {gpu} has nothing in chunk {chunk} of what this step reads")));
        }
        if step.kinds.reduces {
            // What comes is combined with the source of the step, what is copied with its target.
            let with = if step.kinds.receives { step.from } else { step.to };
            for (chunk, value) in (0..).zip(&mut values) {
                let own = self.value(gpu, at(with, chunk)).clone();
                let (Some(own), Some(value)) = (own, value.as_mut()) else {
                    return Err((step.line, format!("gpu {gpu} combines with chunk {chunk}, which holds nothing")));
                };
                if let Some((other, chunk)) = own.intersection(value).next() {
                    return Err((step.line, format!("gpu {gpu} adds chunk {chunk} of gpu {other} twice")));
                }
                value.extend(own);
            }
        }
        if let Some(id) = self.messages.sent.get(&place) {
            self.under_way.insert(*id, values.clone());
        }
        if step.kinds.writes {
            for (chunk, value) in (0..).zip(values) {
                let key = self.key(gpu, at(step.to, chunk));
                self.values.insert(key, value);
            }
        }
        Ok(())
    }
}
