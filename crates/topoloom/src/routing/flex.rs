//! FleX's minimal routing: Algorithm 1 of the paper, for three layers and sides of at least 3. VC class = hop index.

use super::{Minimal, Step};
use crate::network::{Network, RouterId};
use crate::rng::Rng;

/// Algorithm 1, with its guard corrected to `while v_c != v_d`.
pub struct FlexMinimal {
    nx: u32,
    ny: u32,
    /// (x, y, layer) of each router.
    places: Vec<[u16; 3]>,
    /// Output to the neighbour with a given x (own y) or y (own x) in the next and the previous layer: `2 (nx + ny)`
    /// entries per router, next layer first, x before y.
    ports: Vec<u16>,
}

impl FlexMinimal {
    /// `None` outside the algorithm's domain, where it would get stuck or use links that do not exist.
    pub fn new(network: &Network) -> Option<Self> {
        let grid = network.any_structure().grid()?;
        let &[nx, ny, 3] = grid.sides.as_slice() else { return None };
        if nx < 3 || ny < 3 {
            return None;
        }
        let places = network.routers().map(|router| {
            let place = grid.coordinates(router.0);
            [place[0] as u16, place[1] as u16, place[2] as u16]
        });
        let places = places.collect();
        let row = (2 * (nx + ny)) as usize;
        let mut ports = vec![u16::MAX; network.num_routers() * row];
        for router in network.routers() {
            let own = grid.coordinates(router.0);
            for (port, peer) in network.neighbors(router) {
                let other = grid.coordinates(peer.0);
                let layer = if other[2] == (own[2] + 1) % 3 { 0 } else { nx + ny };
                let place = if other[1] == own[1] { other[0] } else { nx + other[1] };
                ports[router.index() * row + (layer + place) as usize] = port as u16;
            }
        }
        Some(Self { nx, ny, places, ports })
    }

    /// (x, y, layer) of a router.
    #[inline(always)]
    fn place(&self, router: RouterId) -> (u32, u32, u32) {
        let [x, y, layer] = self.places[router.index()];
        (x.into(), y.into(), layer.into())
    }

    /// The output to (x, own y) or (own x, y) in layer `to`.
    #[inline(always)]
    fn port(&self, at: RouterId, from: u32, to: u32, place: u32) -> u16 {
        let layer = if to == (from + 1) % 3 { 0 } else { self.nx + self.ny };
        self.ports[(at.0 * 2 * (self.nx + self.ny) + layer + place) as usize]
    }

    /// Where Algorithm 1 goes next: a layer, and the positions it may choose among there.
    #[inline(always)]
    fn choice(&self, at: RouterId, to: RouterId) -> (u32, Choice) {
        let ((xc, yc, zc), (xd, yd, zd)) = (self.place(at), self.place(to));
        let third = (6 - zc - zd) % 3;
        let previous = (zc + 2) % 3;
        match (zc == zd, xc == xd, yc == yd) {
            (true, true, _) => (previous, Choice::AnyY([yc, yd])),
            (true, false, true) => (previous, Choice::AnyX([xc, xd])),
            (true, false, false) => (previous, Choice::One(self.nx + yd)),
            (false, true, true) => (third, Choice::AnyX([xc, xc])),
            (false, true, false) => (zd, Choice::One(self.nx + yd)),
            (false, false, true) => (zd, Choice::One(xd)),
            (false, false, false) => (third, Choice::One(self.nx + yd)),
        }
    }
}

/// The positions that Algorithm 1 leaves to chance: any x or y but two (which may be the same), or none.
enum Choice {
    One(u32),
    AnyX([u32; 2]),
    AnyY([u32; 2]),
}

/// A uniform draw below `n`, `but` left out.
#[inline(always)]
fn draw_but(n: u32, but: [u32; 2], rng: &mut Rng) -> u32 {
    let (low, high) = (but[0].min(but[1]), but[0].max(but[1]));
    let out = if low == high { 1 } else { 2 };
    let mut draw = rng.below(n - out);
    draw += u32::from(draw >= low);
    draw + u32::from(out == 2 && draw >= high)
}

impl Minimal for FlexMinimal {
    fn classes(&self) -> u32 {
        2
    }

    #[inline(always)]
    fn counts_hops(&self) -> bool {
        true
    }

    /// Measured on 6x6x3 under bit complement at load 1, with 2, 3 and 4 per class: 0.82, 0.90 and 0.96 of the most accepted.
    fn vcs_per_class(&self) -> u32 {
        4
    }

    fn steps(&self, at: RouterId, bits: u32, target: RouterId, out: &mut Vec<Step>) {
        let from = self.place(at).2;
        let (layer, choice) = self.choice(at, target);
        let places: Vec<u32> = match choice {
            Choice::One(place) => vec![place],
            Choice::AnyX(but) => (0..self.nx).filter(|x| !but.contains(x)).collect(),
            Choice::AnyY(but) => (0..self.ny).filter(|y| !but.contains(y)).map(|y| self.nx + y).collect(),
        };
        let port = |place| self.port(at, from, layer, place);
        out.extend(places.into_iter().map(|place| Step { port: port(place), class: bits as u8, bits: bits + 1 }));
    }

    #[inline(always)]
    fn step(&self, at: RouterId, bits: u32, target: RouterId, rng: &mut Rng) -> Step {
        let from = self.place(at).2;
        let (layer, choice) = self.choice(at, target);
        let place = match choice {
            Choice::One(place) => place,
            Choice::AnyX(but) => draw_but(self.nx, but, rng),
            Choice::AnyY(but) => self.nx + draw_but(self.ny, but, rng),
        };
        Step { port: self.port(at, from, layer, place), class: bits as u8, bits: bits + 1 }
    }

    #[inline(always)]
    fn only_step(&self, at: RouterId, bits: u32, target: RouterId) -> Option<Step> {
        let (layer, Choice::One(place)) = self.choice(at, target) else { return None };
        let port = self.port(at, self.place(at).2, layer, place);
        Some(Step { port, class: bits as u8, bits: bits + 1 })
    }

    #[inline(always)]
    fn hops(&self, from: RouterId, to: RouterId) -> u32 {
        let ((xc, yc, zc), (xd, yd, zd)) = (self.place(from), self.place(to));
        match (from == to, zc != zd && (xc == xd) != (yc == yd)) {
            (true, _) => 0,
            (_, true) => 1,
            _ => 2,
        }
    }
}
