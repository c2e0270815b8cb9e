//! Messages between each two members: all at once, one partner per step, or combined by direction (Bruck et al., 1997).

use super::blocks::{Blocks, Span, Steps, Transfer};

/// Each member sends all others what is theirs, all at once.
pub fn reduce_scatter(steps: &mut dyn Steps, members: &[u32], own: &[Vec<Span>]) {
    let n = members.len();
    let to = |step: usize, i: usize| {
        let other = (i + step) % n;
        Transfer::reduce(members[i], members[other], own[other].clone())
    };
    steps.step(&mut (1..n).flat_map(|step| (0..n).map(move |i| to(step, i))));
}

/// Each member sends all others what is its own, all at once.
pub fn all_gather(steps: &mut dyn Steps, members: &[u32], own: &[Vec<Span>]) {
    let n = members.len();
    let to = |step: usize, i: usize| Transfer::copy(members[i], members[(i + step) % n], own[i].clone());
    steps.step(&mut (1..n).flat_map(|step| (0..n).map(move |i| to(step, i))));
}

/// The distances of Bruck's steps, and how many neighbours' spans each moves.
fn doublings(n: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    (0..n.next_power_of_two().ilog2()).map(move |k| (1 << k, (1 << k).min(n - (1 << k))))
}

/// Member i sends the spans of the members from i on, which it has by then, twice as far in each step.
pub fn bruck_all_gather(steps: &mut dyn Steps, members: &[u32], own: &[Vec<Span>]) {
    let n = members.len();
    for (distance, count) in doublings(n) {
        let spans = |i: usize| (i..i + count).flat_map(|place| own[place % n].iter().copied()).collect();
        steps.step(&mut (0..n).map(|i| Transfer::copy(members[i], members[(i + n - distance) % n], spans(i))));
    }
}

/// The same backwards: what was handed out is gathered and combined.
pub fn bruck_reduce_scatter(steps: &mut dyn Steps, members: &[u32], own: &[Vec<Span>]) {
    let n = members.len();
    for (distance, count) in doublings(n).rev() {
        let to = |i: usize| (i + distance) % n;
        let spans = |i: usize| (to(i)..to(i) + count).flat_map(|place| own[place % n].iter().copied()).collect();
        steps.step(&mut (0..n).map(|i| Transfer::reduce(members[i], members[to(i)], spans(i))));
    }
}

/// What member i has for member j.
pub type Between<'a> = dyn Fn(usize, usize) -> Vec<Span> + 'a;

/// In step s each member sends to the one s positions on, and receives before the next step.
pub fn pairwise(steps: &mut dyn Steps, members: &[u32], between: &Between) {
    let n = members.len();
    for step in 1..n {
        let to = |i: usize| Transfer::copy(members[i], members[(i + step) % n], between(i, (i + step) % n));
        steps.step(&mut (0..n).map(to));
    }
}

/// All at once.
pub fn at_once(steps: &mut dyn Steps, members: &[u32], between: &Between) {
    let n = members.len();
    let to = |step: usize, i: usize| Transfer::copy(members[i], members[(i + step) % n], between(i, (i + step) % n));
    steps.step(&mut (1..n).flat_map(|step| (0..n).map(move |i| to(step, i))));
}

/// Blocks travel together: in each step those with its bit in the distance that they have to go.
pub fn bruck(steps: &mut dyn Steps, members: &[u32], blocks: &Blocks) {
    let n = members.len();
    for distance in (0..n.next_power_of_two().ilog2()).map(|k| 1usize << k) {
        // A block that has `way` to go from its source has come as far as the lower bits of that.
        let held = |i: usize| {
            (1..n).filter(move |way| way & distance != 0).map(move |way| {
                let source = (i + n - way % distance) % n;
                (source * n + (source + way) % n) as u64
            })
        };
        let to = |i: usize| Transfer::copy(members[i], members[(i + distance) % n], blocks.spans(held(i)));
        steps.step(&mut (0..n).map(to));
    }
}

/// All ranks are on a grid of `rows` of `width`: what goes to a column is gathered within its row, then goes along it.
pub fn two_levels(steps: &mut dyn Steps, members: &[u32], width: usize, blocks: &Blocks) {
    let (n, rows) = (members.len(), members.len() / width);
    let to_column = |row: usize, from: usize, to: usize| {
        let own = row * width + from;
        let blocks = blocks.spans((0..rows).map(|other| (own * n + other * width + to) as u64));
        Transfer::copy(members[own], members[row * width + to], blocks)
    };
    let within = move |row: usize| {
        (1..width).flat_map(move |step| (0..width).map(move |from| (row, from, (from + step) % width)))
    };
    steps.step(&mut (0..rows).flat_map(within).map(|(row, from, to)| to_column(row, from, to)));
    let to_row = |column: usize, from: usize, to: usize| {
        let target = to * width + column;
        let gathered = blocks.spans((0..width).map(|source| ((from * width + source) * n + target) as u64));
        Transfer::copy(members[from * width + column], members[target], gathered)
    };
    let along = move |column: usize| {
        (1..rows).flat_map(move |step| (0..rows).map(move |from| (column, from, (from + step) % rows)))
    };
    steps.step(&mut (0..width).flat_map(along).map(|(column, from, to)| to_row(column, from, to)));
}
