//! Up and down trees: the binomial tree, and two binary trees in which no rank is within both (Sanders, Speck and
//! Träff, 2009).

use super::blocks::{Span, Steps, Transfer};

/// A tree: pairs of parent and child, in steps from its root on. Members are indices into a group.
pub type Levels = Vec<Vec<(usize, usize)>>;

/// The binomial tree below member 0.
pub fn binomial(members: usize) -> Levels {
    let step = |distance: usize| {
        let pairs = (0..members).step_by(2 * distance).map(|from| (from, from + distance));
        pairs.filter(|(_, to)| *to < members).collect()
    };
    (0..members.next_power_of_two().ilog2()).rev().map(|k| step(1 << k)).collect()
}

/// All members directly below member 0.
pub fn flat(members: usize) -> Levels {
    vec![(1..members).map(|member| (0, member)).collect()]
}

/// One of the two binary trees: odd members are leaves of the first. The second is the first one mirrored, or, of an
/// odd number, shifted by one.
pub fn binary(members: usize, second: bool) -> Levels {
    let number = |place: usize| match (second, members % 2) {
        (false, _) => place,
        (true, 0) => members - 1 - place,
        (true, _) => (place + 1) % members,
    };
    let above = |place: usize| {
        let bit = 1usize << place.trailing_zeros();
        let up = (place ^ bit) | (bit << 1);
        if up < members { up } else { place ^ bit }
    };
    let depth = |place: usize| std::iter::successors(Some(place), |at| (*at > 0).then(|| above(*at))).count() - 1;
    let mut levels: Levels = Vec::new();
    for place in 1..members {
        let level = depth(place) - 1;
        levels.resize(levels.len().max(level + 1), Vec::new());
        levels[level].push((number(above(place)), number(place)));
    }
    levels
}

/// The same with member 0 above the roots of both trees, which the others are in.
pub fn binary_below(members: usize, second: bool) -> Levels {
    let mut levels = binary(members - 1, second);
    let root = levels.first().map_or(0, |top| top[0].0);
    levels.iter_mut().flatten().for_each(|(above, below)| (*above, *below) = (*above + 1, *below + 1));
    levels.insert(0, vec![(0, root + 1)]);
    levels
}

/// Data goes down a tree.
pub fn down(steps: &mut dyn Steps, members: &[u32], levels: &Levels, spans: &[Span]) {
    for level in levels {
        let to = |&(above, below): &(usize, usize)| Transfer::copy(members[above], members[below], spans.to_vec());
        steps.step(&mut level.iter().map(to));
    }
}

/// Data is combined up a tree.
pub fn up(steps: &mut dyn Steps, members: &[u32], levels: &Levels, spans: &[Span]) {
    for level in levels.iter().rev() {
        let to = |&(above, below): &(usize, usize)| Transfer::reduce(members[below], members[above], spans.to_vec());
        steps.step(&mut level.iter().map(to));
    }
}
