//! Shifts of a grid that map a base onto itself, and cabinets onto others.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::cabling::Cabling;
use super::pattern::{Everywhere, Pattern};

/// Shifts at most: what they lead to is held in tables.
const MOST: usize = 4096;

/// A group of shifts: none but the one that shifts nothing leaves a cabinet where it is.
#[derive(Debug, Clone)]
pub struct Shifts {
    /// To where a step along each dimension takes each vertex, and how many of them come back.
    steps: Vec<Vec<u32>>,
    orders: Vec<u32>,
    /// The vertices of some cabinets, one of every set of cabinets that shifts map onto each other; and to where each
    /// shift takes them: vertex g of n shifts of the v-th one is at v * n + g.
    images: Vec<u32>,
    /// The position of each vertex there.
    places: Vec<u32>,
}

impl Shifts {
    /// The shifts of a cabling whose vertices are in a grid, by ascending coordinates, the first dimension fastest.
    /// None if there are none but the one that shifts nothing.
    pub fn of(cabling: &Cabling, sides: &[u32]) -> Option<Self> {
        if sides.iter().map(|&side| side as usize).product::<usize>() != cabling.len() {
            return None;
        }
        let (mut steps, mut orders): (Vec<Vec<u32>>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut stride = 1;
        for &side in sides {
            for by in (1..side).filter(|by| side % by == 0) {
                let image = |vertex: u32| {
                    let at = vertex / stride % side;
                    vertex - at * stride + (at + by) % side * stride
                };
                let step: Vec<u32> = (0..cabling.len() as u32).map(image).collect();
                let count = orders.iter().product::<u32>() * (side / by);
                if count as usize <= MOST && keeps_links(cabling, &step) {
                    steps.push(step);
                    orders.push(side / by);
                    if moves_cabinets(cabling, &steps, count) {
                        break;
                    }
                    steps.pop();
                    orders.pop();
                }
            }
            stride *= side;
        }
        Self::by(cabling, steps, orders)
    }

    /// Only every second, or third, … step along the dimension with the most of them. None if nothing is left.
    pub fn fewer(&self, cabling: &Cabling) -> Option<Self> {
        let (mut steps, mut orders) = (self.steps.clone(), self.orders.clone());
        let (most, dimension) =
            orders.iter().zip(0..).max_by_key(|&(&order, dimension)| (order, Reverse(dimension)))?;
        let times = (2..=*most).find(|times| most % times == 0)?;
        let step = &self.steps[dimension];
        for _ in 1..times {
            steps[dimension].iter_mut().for_each(|image| *image = step[*image as usize]);
        }
        orders[dimension] /= times;
        if orders[dimension] == 1 {
            steps.remove(dimension);
            orders.remove(dimension);
        }
        Self::by(cabling, steps, orders)
    }

    fn by(cabling: &Cabling, steps: Vec<Vec<u32>>, orders: Vec<u32>) -> Option<Self> {
        if steps.is_empty() {
            return None;
        }
        let mut this = Self { steps, orders, images: Vec::new(), places: vec![u32::MAX; cabling.len()] };
        let mut is_known = vec![false; cabling.len()];
        // The cabinets in the order of their first vertices; all vertices of one before the next one.
        let mut members = BTreeMap::<u32, Vec<u32>>::new();
        (0..).zip(cabling.cabinets()).for_each(|(vertex, &cabinet)| members.entry(cabinet).or_default().push(vertex));
        for vertices in members.values() {
            if is_known[vertices[0] as usize] {
                continue;
            }
            for &vertex in vertices {
                let first = this.images.len();
                for shift in 0..this.len() as u32 {
                    // One step along the last dimension that it goes along.
                    let last = this.digits(shift).rposition(|digit| digit > 0);
                    let image = last.map_or(vertex, |dimension| {
                        let stride: u32 = this.orders[..dimension].iter().product();
                        this.steps[dimension][this.images[first + (shift - stride) as usize] as usize]
                    });
                    this.places[image as usize] = this.images.len() as u32;
                    is_known[image as usize] = true;
                    this.images.push(image);
                }
            }
        }
        Some(this)
    }

    /// The number of shifts.
    pub(super) fn len(&self) -> usize {
        self.orders.iter().product::<u32>() as usize
    }

    fn digits(&self, shift: u32) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator + '_ {
        let stride = |dimension: usize| self.orders[..dimension].iter().product::<u32>();
        (0..self.orders.len()).map(move |dimension| shift / stride(dimension) % self.orders[dimension])
    }

    /// Two shifts, one after the other.
    pub(super) fn sum(&self, a: u32, b: u32) -> u32 {
        let (mut sum, mut stride) = (0, 1);
        for ((a, b), order) in self.digits(a).zip(self.digits(b)).zip(&self.orders) {
            sum += (a + b) % order * stride;
            stride *= order;
        }
        sum
    }

    /// To where a shift takes a vertex.
    fn image(&self, vertex: u32, shift: u32) -> u32 {
        let (place, count) = (self.places[vertex as usize], self.len() as u32);
        self.images[(place - place % count + self.sum(place % count, shift)) as usize]
    }
}

/// True if a map of vertices maps links onto links and cabinets onto cabinets.
fn keeps_links(cabling: &Cabling, image: &[u32]) -> bool {
    let mut cabinet = BTreeMap::new();
    let whole = (0..cabling.len()).all(|vertex| {
        let [from, to] = [vertex, image[vertex] as usize].map(|vertex| cabling.cabinets()[vertex]);
        *cabinet.entry(from).or_insert(to) == to
    });
    let sorted = |peers: &mut dyn Iterator<Item = u32>| {
        let mut peers: Vec<u32> = peers.collect();
        peers.sort_unstable();
        peers
    };
    whole
        && (0..cabling.len() as u32).all(|vertex| {
            sorted(&mut cabling.peers(vertex).iter().map(|&peer| image[peer as usize]))
                == sorted(&mut cabling.peers(image[vertex as usize]).iter().copied())
        })
}

/// True if the shifts that `steps` make up, this many, take each cabinet to as many cabinets.
fn moves_cabinets(cabling: &Cabling, steps: &[Vec<u32>], count: u32) -> bool {
    let mut member = BTreeMap::new();
    (0..).zip(cabling.cabinets()).for_each(|(vertex, &cabinet)| {
        member.entry(cabinet).or_insert(vertex);
    });
    let mut set: BTreeMap<u32, u32> = BTreeMap::new();
    member.iter().all(|(&start, _)| {
        if set.contains_key(&start) {
            return true;
        }
        let mut reached = vec![start];
        set.insert(start, start);
        let mut next = 0;
        while let Some(&cabinet) = reached.get(next) {
            next += 1;
            for step in steps {
                let to = cabling.cabinets()[step[member[&cabinet] as usize] as usize];
                if set.insert(to, start).is_none() {
                    reached.push(to);
                }
            }
        }
        reached.len() == count as usize
    })
}

/// A cabling that shifts map onto itself, as a pattern, with what leads from the pattern back to it.
pub(super) struct CablingPattern {
    /// The pattern.
    pub pattern: Pattern,
    /// The plugs of each cabinet of the pattern.
    pub cabinets: Vec<Vec<u32>>,
    /// To which plug each shift takes each plug of the pattern: by shift g of n, the p-th one to that at p * n + g.
    plugs: Vec<u32>,
    /// The position of each plug there.
    places: Vec<u32>,
    shifts: u32,
}

impl CablingPattern {
    pub fn new(cabling: &Cabling, shifts: &Shifts) -> Self {
        let count = shifts.len() as u32;
        let mut this = Self {
            pattern: Pattern::default(),
            cabinets: Vec::new(),
            plugs: Vec::new(),
            places: vec![u32::MAX; 2 * cabling.cables()],
            shifts: count,
        };
        let mut numbers = BTreeMap::new();
        for images in shifts.images.chunks(count as usize) {
            let number = *numbers.entry(cabling.cabinets()[images[0] as usize]).or_insert(this.cabinets.len());
            if number == this.cabinets.len() {
                this.cabinets.push(Vec::new());
            }
            for plug in cabling.plugs_of(images[0]) {
                this.cabinets[number].push(this.plugs.len() as u32 / count);
                let rank = cabling.parallel(images[0], cabling.peer(plug)).iter().position(|&other| other == plug);
                for shift in 0..count {
                    let peer = shifts.image(cabling.peer(plug), shift);
                    let image = cabling.parallel(images[shift as usize], peer)[rank.unwrap_or(0)];
                    this.places[image as usize] = this.plugs.len() as u32;
                    this.plugs.push(image);
                }
            }
        }
        let of_vertex = |images: &[u32]| -> Vec<(u32, u32)> {
            let far = cabling.plugs_of(images[0]).map(|plug| this.places[cabling.far(plug) as usize]);
            far.map(|place| (place / count, place % count)).collect()
        };
        let vertices: Vec<_> = shifts.images.chunks(count as usize).map(of_vertex).collect();
        this.pattern = Pattern::new(shifts, &vertices);
        this
    }

    /// Applies these exchanges to a cabling that has had exactly the earlier ones, by all shifts.
    pub fn exchange(&self, cabling: &mut Cabling, exchanges: &[Everywhere]) {
        let plug = |plug: u32, shift: u32| self.plugs[(plug * self.shifts + shift) as usize];
        for &what in exchanges {
            for shift in 0..self.shifts {
                match what {
                    Everywhere::All(x, y) => cabling.exchange(plug(x, shift), plug(y, shift)),
                    Everywhere::Half(x, y) => {
                        let far = self.places[cabling.far(plug(x, shift)) as usize] % self.shifts;
                        if shift < far {
                            cabling.exchange(plug(x, shift), plug(y, shift));
                        }
                    }
                }
            }
        }
    }
}
