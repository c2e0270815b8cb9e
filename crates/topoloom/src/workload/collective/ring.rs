//! Around a ring: each member sends to the next one in every step.

use super::blocks::{Blocks, Span, Steps, Transfer};

/// Reduces each member's `own` spans to it: what goes round is combined in flight, and ends where it belongs.
pub fn reduce_scatter(steps: &mut dyn Steps, members: &[u32], own: &[Vec<Span>]) {
    let n = members.len();
    for step in 0..n - 1 {
        let spans = |member: usize| own[(member + 2 * n - step - 1) % n].clone();
        steps.step(&mut (0..n).map(|i| Transfer::reduce(members[i], members[(i + 1) % n], spans(i))));
    }
}

/// Hands each member's `own` spans to all.
pub fn all_gather(steps: &mut dyn Steps, members: &[u32], own: &[Vec<Span>]) {
    let n = members.len();
    for step in 0..n - 1 {
        let spans = |member: usize| own[(member + n - step) % n].clone();
        steps.step(&mut (0..n).map(|i| Transfer::copy(members[i], members[(i + 1) % n], spans(i))));
    }
}

/// Down the chain of members.
pub fn chain_down(steps: &mut dyn Steps, members: &[u32], spans: &[Span]) {
    for pair in members.windows(2) {
        steps.step(&mut std::iter::once(Transfer::copy(pair[0], pair[1], spans.to_vec())));
    }
}

/// Up the chain of members, to the first.
pub fn chain_up(steps: &mut dyn Steps, members: &[u32], spans: &[Span]) {
    for pair in members.windows(2).rev() {
        steps.step(&mut std::iter::once(Transfer::reduce(pair[1], pair[0], spans.to_vec())));
    }
}

/// The blocks of this many members in an allreduce: each ends the first half with the block behind its own, as that is its own
/// which it sends first.
pub fn shifted(blocks: &Blocks, members: usize) -> Vec<Vec<Span>> {
    let n = members as u64;
    (0..n).map(|place| blocks.spans([(place + 1) % n])).collect()
}
