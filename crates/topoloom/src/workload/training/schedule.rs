//! In which order a stage of the pipeline does its passes.

/// One microbatch through the layers of one chunk, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    /// Back, from the last layer to the first.
    pub backward: bool,
    /// The chunk among those of the stage.
    pub chunk: u32,
    /// The microbatch.
    pub microbatch: u32,
}

/// The passes of a stage, one forward, one backward (1F1B): enough forward first that later stages have something to do,
/// then one of each in turn, and what is left backward. With several chunks a stage, it goes through each of them with as
/// many microbatches as there are stages, in turn (interleaved, Narayanan et al., 2021); microbatches must come in whole
/// numbers of stages then.
pub fn order(stage: u32, stages: u32, chunks: u32, microbatches: u32) -> Vec<Pass> {
    let behind = stages - 1 - stage;
    let total = chunks * microbatches;
    let first = if chunks == 1 { behind } else { 2 * behind + (chunks - 1) * stages }.min(total);
    let at = |place: u32, backward: bool| {
        let (turn, within) = (place / (stages * chunks), place % (stages * chunks));
        let chunk = within / stages;
        let chunk = if backward { chunks - 1 - chunk } else { chunk };
        Pass { backward, chunk, microbatch: turn * stages + within % stages }
    };
    let both = (first..total).flat_map(|place| [at(place, false), at(place - first, true)]);
    (0..first)
        .map(|place| at(place, false))
        .chain(both)
        .chain((total - first..total).map(|place| at(place, true)))
        .collect()
}

/// The layers of one of this many chunks that follow one another; those in the middle have one more where they are not equal, as
/// the ends have the embeddings.
pub fn layers_of(chunk: u32, chunks: u32, layers: u32) -> std::ops::Range<u32> {
    let (each, more) = (layers / chunks, layers % chunks);
    let first = (chunks - more) / 2;
    let until = |chunk: u32| chunk * each + chunk.saturating_sub(first).min(more);
    until(chunk)..until(chunk + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_forward_one_backward() {
        let text = |stage, stages, chunks, batches| {
            let word = |pass: Pass| {
                let Pass { backward, chunk, microbatch } = pass;
                format!("{}{microbatch}{}", if backward { "b" } else { "f" }, ["", "'"][chunk as usize])
            };
            order(stage, stages, chunks, batches).into_iter().map(word).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(0, 4, 1, 4), "f0 f1 f2 f3 b0 b1 b2 b3");
        assert_eq!(text(2, 4, 1, 4), "f0 f1 b0 f2 b1 f3 b2 b3");
        assert_eq!(text(3, 4, 1, 3), "f0 b0 f1 b1 f2 b2");
        assert_eq!(text(1, 2, 2, 4), "f0 f1 f0' b0' f1' b1' f2 b0 f3 b1 f2' b2' f3' b3' b2 b3");
    }

    #[test]
    fn layers_are_dealt_evenly_with_less_at_the_ends() {
        let sizes = |layers, chunks| (0..chunks).map(|own| layers_of(own, chunks, layers).len()).collect::<Vec<_>>();
        assert_eq!(sizes(8, 4), [2, 2, 2, 2]);
        assert_eq!(sizes(126, 16), [7, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 7]);
        assert_eq!([0, 1, 2].map(|chunk| layers_of(chunk, 3, 5)), [0..2, 2..4, 4..5]);
    }
}
