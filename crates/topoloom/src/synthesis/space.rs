//! What is searched: Cayley graphs of groups that do not commute, and twisted tori to compare with.

use super::table::Table;
use crate::rng::Rng;
use crate::topology::{Semidirect, Twist};

/// A set of graphs that a search goes through.
pub trait Space: Sync {
    /// One of them.
    type Member: Clone + Send + Sync;

    /// A graph at random; `None` if the draw fails.
    fn draw(&self, rng: &mut Rng) -> Option<Self::Member>;

    /// Another graph that is drawn, of the same kind as one that was found good.
    fn like(&self, member: &Self::Member, rng: &mut Rng) -> Self::Member;

    /// A neighbour of a graph.
    fn vary(&self, member: &Self::Member, rng: &mut Rng) -> Self::Member;

    /// Where its links lead. A table only ever gets graphs of one kind.
    fn fill(&self, member: &Self::Member, table: &mut Table);

    /// Its name.
    fn spec(&self, member: &Self::Member) -> String;
}

/// Cayley graphs of a degree, of semidirect products of an order.
pub struct Cayleys {
    degree: u32,
    shapes: Vec<Shape>,
}

/// The sizes of a group, and its turn if it is given.
#[derive(Debug, Clone)]
pub struct Shape {
    /// Its sizes, as in the spec.
    pub sizes: Vec<u32>,
    /// How the last turns the others; drawn if not given.
    pub turn: Option<Vec<u32>>,
}

/// A group with generators of its Cayley graph; one that is its own inverse stands last if the degree is odd.
#[derive(Clone)]
pub struct Cayley {
    group: std::sync::Arc<Group>,
    generators: Vec<u32>,
}

struct Group {
    sizes: Vec<u32>,
    turn: Option<Vec<u32>>,
    group: Semidirect,
    /// Elements but 0 that are their own inverse.
    halves: Vec<u32>,
}

impl Group {
    fn new(sizes: &[u32], turn: Option<Vec<u32>>) -> Option<Self> {
        let group = Semidirect::new(sizes, turn.as_deref()).ok()?;
        let halves = (1..group.order()).filter(|&element| group.inverse(element) == element).collect();
        Some(Self { sizes: sizes.to_vec(), turn, group, halves })
    }

    /// An element that is not its own inverse, and none of `others` or their inverses.
    fn generator(&self, others: &[u32], rng: &mut Rng) -> u32 {
        loop {
            let element = 1 + rng.below(self.group.order() - 1);
            let inverse = self.group.inverse(element);
            if inverse != element && !others.contains(&element) && !others.contains(&inverse) {
                return element;
            }
        }
    }

    fn half(&self, rng: &mut Rng) -> u32 {
        self.halves[rng.below(self.halves.len() as u32) as usize]
    }

    /// True if there are generators of that degree.
    fn serves(&self, degree: u32) -> bool {
        let pairs = (self.group.order() as usize - 1 - self.halves.len()) / 2;
        pairs >= degree as usize / 2 && (degree.is_multiple_of(2) || !self.halves.is_empty())
    }
}

/// Matrices that are drawn until one comes back to 1.
const DRAWS: u32 = 500;

impl Cayleys {
    /// Those of the groups of this many elements, or of one group.
    pub fn new(routers: u32, degree: u32, shape: Option<Shape>) -> Self {
        let shapes = shape.map_or_else(|| shapes(routers), |shape| vec![shape]);
        Self { degree, shapes }
    }

    fn generators(&self, group: &Group, rng: &mut Rng) -> Vec<u32> {
        let mut generators = Vec::with_capacity(self.degree.div_ceil(2) as usize);
        for _ in 0..self.degree / 2 {
            generators.push(group.generator(&generators, rng));
        }
        generators.extend((self.degree % 2 == 1).then(|| group.half(rng)));
        generators
    }
}

/// The sizes of semidirect products: equal ones, and one that turns them; one size alone if there is nothing else.
fn shapes(order: u32) -> Vec<Shape> {
    let mut shapes = Vec::new();
    for turns in (2..order).filter(|turns| order.is_multiple_of(*turns)) {
        for digits in 1..=order.ilog2() {
            let modulus = f64::from(order / turns).powf(1.0 / f64::from(digits)).round() as u32;
            if modulus > 1 && modulus.checked_pow(digits) == Some(order / turns) && (modulus, digits) != (2, 1) {
                let sizes = std::iter::repeat_n(modulus, digits as usize).chain([turns]).collect();
                shapes.push(Shape { sizes, turn: None });
            }
        }
    }
    shapes
}

/// A matrix other than 1 that comes back to 1.
fn turn(sizes: &[u32], rng: &mut Rng) -> Option<Vec<u32>> {
    let (&turns, moduli) = sizes.split_last()?;
    let modulus = u64::from(*moduli.first()?);
    (0..DRAWS).find_map(|_| {
        let turn: Vec<u32> = moduli.iter().map(|&modulus| rng.below(modulus)).collect();
        // The powers of x: it is enough that the last one is 1.
        let mut power = vec![0u64; turn.len()];
        power[0] = 1;
        let one = power.clone();
        for round in 1..=turns {
            let top = power[turn.len() - 1];
            power.rotate_right(1);
            power[0] = 0;
            power.iter_mut().zip(&turn).for_each(|(digit, &own)| *digit = (*digit + top * u64::from(own)) % modulus);
            if power == one {
                return (round > 1 && turns % round == 0).then_some(turn);
            }
        }
        None
    })
}

impl Space for Cayleys {
    type Member = Cayley;

    fn draw(&self, rng: &mut Rng) -> Option<Cayley> {
        let shape = self.shapes.get(rng.below(self.shapes.len() as u32) as usize)?;
        let turn = match &shape.turn {
            None if shape.sizes.len() > 1 => Some(turn(&shape.sizes, rng)?),
            given => given.clone(),
        };
        let group = Group::new(&shape.sizes, turn).filter(|group| group.serves(self.degree))?;
        let generators = self.generators(&group, rng);
        Some(Cayley { group: group.into(), generators })
    }

    fn like(&self, member: &Cayley, rng: &mut Rng) -> Cayley {
        Cayley { group: member.group.clone(), generators: self.generators(&member.group, rng) }
    }

    fn vary(&self, member: &Cayley, rng: &mut Rng) -> Cayley {
        let mut generators = member.generators.clone();
        let place = rng.below(generators.len() as u32) as usize;
        let pairs = self.degree as usize / 2;
        generators.remove(place);
        let other = if place < pairs { member.group.generator(&generators, rng) } else { member.group.half(rng) };
        generators.insert(place, other);
        Cayley { group: member.group.clone(), generators }
    }

    fn fill(&self, member: &Cayley, table: &mut Table) {
        let group = &member.group.group;
        for (place, &generator) in member.generators.iter().enumerate() {
            if !table.changes(2 * place, generator) {
                continue;
            }
            let peers = group.times(generator);
            if place < self.degree as usize / 2 {
                table.set_both(2 * place, &peers)
            } else {
                table.set(2 * place, peers)
            }
        }
    }

    fn spec(&self, member: &Cayley) -> String {
        let turn = member.group.turn.as_ref().map_or_else(String::new, |turn| format!(",turn={}", list(turn, ",")));
        let (sizes, generators) = (list(&member.group.sizes, "x"), list(&member.generators, ","));
        format!("cayley:{sizes}{turn},generators={generators}")
    }
}

/// Numbers as text.
fn list(numbers: &[u32], between: &str) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

/// Twisted tori of a degree: one dimension for two links, one of side 2 for the last of an odd degree.
pub struct Tori {
    routers: u32,
    degree: u32,
}

/// The sides of a torus, and the rows of its twist.
#[derive(Debug, Clone)]
pub struct Torus {
    sides: Vec<u32>,
    rows: Vec<Vec<u32>>,
}

impl Tori {
    /// Those of this many routers.
    pub fn new(routers: u32, degree: u32) -> Self {
        Self { routers, degree }
    }

    /// Dimensions of two links.
    fn dimensions(&self) -> usize {
        self.degree as usize / 2
    }

    /// An offset of one dimension along a later one.
    fn offset(&self, sides: &[u32], rng: &mut Rng) -> Option<(usize, usize, u32)> {
        let last = self.dimensions();
        let pairs: Vec<(usize, usize)> = (0..last)
            .flat_map(|from| (from + 1..sides.len()).map(move |to| (from, to)))
            .filter(|&(_, to)| sides[to] > 1)
            .collect();
        let &(from, to) = pairs.get(rng.below(pairs.len() as u32) as usize)?;
        Some((from, to, rng.below(sides[to])))
    }

    /// Twists of these sides, all equally likely.
    fn twisted(&self, sides: Vec<u32>, rng: &mut Rng) -> Torus {
        let (dimensions, all) = (self.dimensions(), sides.len());
        let offset = |from: usize, to: usize, rng: &mut Rng| {
            if from < dimensions && to > from { rng.below(sides[to]) } else { 0 }
        };
        let rows = (0..all).map(|from| (0..all).map(|to| offset(from, to, rng)).collect()).collect();
        Torus { sides, rows }
    }
}

impl Space for Tori {
    type Member = Torus;

    fn draw(&self, rng: &mut Rng) -> Option<Torus> {
        let odd = self.degree % 2;
        let (dimensions, mut left) = (self.dimensions(), self.routers / (1 + odd));
        if dimensions == 0 || !self.routers.is_multiple_of(1 + odd) {
            return None;
        }
        let mut sides = vec![1; dimensions];
        let mut factor = 2;
        while left > 1 {
            if left % factor == 0 {
                sides[rng.below(dimensions as u32) as usize] *= factor;
                left /= factor;
            } else {
                factor = if factor * factor > left { left } else { factor + 1 };
            }
        }
        sides.extend((odd == 1).then_some(2));
        Some(self.twisted(sides, rng))
    }

    fn like(&self, member: &Torus, rng: &mut Rng) -> Torus {
        self.twisted(member.sides.clone(), rng)
    }

    fn vary(&self, member: &Torus, rng: &mut Rng) -> Torus {
        let mut torus = member.clone();
        if let Some((from, to, offset)) = self.offset(&member.sides, rng) {
            torus.rows[from][to] = offset;
        }
        torus
    }

    fn fill(&self, member: &Torus, table: &mut Table) {
        let twist = Twist::new(&member.sides, &member.rows).expect("dimensions shift later ones alone");
        let mut peers = Vec::with_capacity(self.routers as usize);
        for dimension in 0..member.sides.len() {
            peers.clear();
            peers.extend((0..self.routers).map(|router| twist.next(router, dimension)));
            if dimension == self.dimensions() {
                table.set(2 * dimension, peers.iter().copied());
            } else if peers[peers[0] as usize] == 0 {
                // One link where + and - lead to one router, as in the family; no way back.
                table.set(2 * dimension, peers.iter().copied());
                table.set(2 * dimension + 1, 0..self.routers);
            } else {
                table.set_both(2 * dimension, &peers);
            }
        }
    }

    fn spec(&self, member: &Torus) -> String {
        let rows: Vec<String> = member.rows.iter().map(|row| list(row, ":")).collect();
        let sides = list(&member.sides, "x");
        if member.rows.iter().flatten().all(|&offset| offset == 0) {
            format!("torus:{sides}")
        } else {
            format!("torus:{sides},twist={}", rows.join("/"))
        }
    }
}
