//! `galaxyfly:n=15,q=29,a=4,p=2`: supernodes of a routers, fully connected, joined as the nodes of a Galaxy graph.
//!
//! The Galaxy graph has n clusters of q supernodes (c,x), x an element of GF(q) by its code; the id of a supernode is
//! c * q + x. Within a cluster (c,x) and (c,x+g) are joined for every g in X; between clusters s < t (t,x) and (s,ξx).
//! X and ξ are those of [`GeneratorSets`] and [`Field`]. Its diameter is 2. With q = 1 it is a complete graph, and the
//! network a dragonfly; with n = q = 1 it is one supernode; with a = 1 it is the Galaxy graph itself.
//!
//! Router r of supernode s has the id s * a + r. Ports of a router: terminals, local links by ascending peer, global
//! links by their place. Classes: `local` within a supernode, `global` between supernodes.
//!
//! A supernode has d = n - 1 + (q - δ)/2 links to others, and each of its routers h global ports, d / a rounded up unless
//! more are given; ports that are left stay unused, and the radix does not count them. The *wiring* states which router has which link. *Rule G* counts the
//! links k = 0, 1, … by the neighbour: first x + X[0], x + X[1], … of the own cluster, then the other clusters in order.
//!
//! - `G`: link k is on router k / h;
//! - `absolute`, `relative`, `palmtree`: links are counted by ascending id of the neighbour, by its ascending distance
//!   (id - own) modulo n q, by descending distance; the k-th is on router k / h;
//! - `round-robin`: link k of rule G is on router k mod a;
//! - `random`: links are counted in an order drawn for each supernode with `seed`.

use std::hint::select_unpredictable;
use std::sync::Arc;

use super::field::Field;
use super::params::{P, Params, product};
use super::slimfly::{GeneratorSets, check_order, generators};
use super::{Family, Roles};
use crate::catalogue::{Key, Kind};
use crate::error::Result;
use crate::network::{LinkClass, Network, RouterId, Structure, WorstCase};
use crate::rng::Rng;

pub(super) const FAMILY: Family = Family {
    name: "galaxyfly",
    summary: "fully connected supernodes of a routers on a Galaxy graph: n clusters of q",
    sizes: None,
    keys: &[
        Key::new("n", Kind::count(1), "clusters"),
        Key::new("q", Kind::count(1), "supernodes per cluster: 1 (a dragonfly) or a prime power but 2"),
        Key::new("a", Kind::count(1), "routers per supernode; 1 is the Galaxy graph"),
        P,
        Key::new("h", Kind::count(0), "global ports per router (default: as many as the links of a supernode need)"),
        Key::new(
            "wiring",
            Kind::Choice(&["G", "absolute", "relative", "palmtree", "round-robin", "random"]),
            "which router of a supernode has which link: G, absolute, relative, palmtree, round-robin or random \
                  (default G)",
        ),
        Key::new("seed", Kind::count(0), "of wiring=random (default 1)"),
    ],
    example: "galaxyfly:n=5,q=5,a=2,p=2",
    source: "Lei, Dong and Liao, Exploring the Galaxyfly family to build flexible-scale interconnection networks, IEEE \
             TPDS 2022",
    routings: &["par", "nar", "nal", "nag"],
    roles: Roles { adaptive: "par", ..Roles::ANY },
    build,
};

/// Which router of a supernode has which of its links. See the module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wiring {
    /// By rule G, in blocks.
    G,
    /// By ascending neighbour, in blocks.
    Absolute,
    /// By ascending distance, in blocks.
    Relative,
    /// By descending distance, in blocks.
    Palmtree,
    /// By rule G, one router after the other.
    RoundRobin,
    /// In an order drawn with a seed, in blocks.
    Random(u32),
}

/// The Galaxy graph: which supernodes are joined, supernode by supernode, in the order of rule G.
#[derive(Debug)]
pub struct Galaxy {
    /// Clusters.
    pub n: u32,
    /// Supernodes a cluster.
    pub q: u32,
    /// `None` with q = 1.
    field: Option<Field>,
    /// X.
    generators: Vec<u32>,
    /// For each label x and each label y the position in X of what leads from x to y, or [`NOT_THERE`].
    places: Vec<u16>,
    /// x + g for each label x and generator g.
    moved: Vec<u32>,
    /// The position of -g for each generator g.
    back: Vec<u32>,
    /// For each label x what ξ takes there, then ξ x.
    over_and_times: Vec<u32>,
}

const NOT_THERE: u16 = u16::MAX;

/// A path of two links between supernodes.
#[derive(Debug, Clone, Copy)]
pub struct Over {
    /// The supernode between them.
    pub middle: u32,
    /// The link to it, as the supernode where it begins and as the one where it ends counts it.
    pub first: [u32; 2],
    /// The link from it on, in the same way.
    pub second: [u32; 2],
}

impl Galaxy {
    fn new(n: u32, q: u32) -> Self {
        let Some(field) = Field::new(q) else {
            let [generators, moved, back] = [(); 3].map(|()| Vec::new());
            let (places, over_and_times) = (vec![NOT_THERE], vec![0; 2]);
            return Self { n, q, field: None, generators, places, moved, back, over_and_times };
        };
        let generators = GeneratorSets::new(&field, q).x;
        let moved: Vec<u32> =
            (0..q).flat_map(|x| generators.iter().map(move |&g| (x, g))).map(|(x, g)| field.add(x, g)).collect();
        let labels = q as usize;
        let mut places = vec![NOT_THERE; labels * labels];
        for (row, reached) in places.chunks_mut(labels).zip(moved.chunks(generators.len())) {
            (0..).zip(reached).for_each(|(place, &y)| row[y as usize] = place);
        }
        // From g to 0.
        let back = generators.iter().map(|&g| places[g as usize * labels].into()).collect();
        let powers = [q - 2, 1].map(|exponent| field.power(exponent));
        let over_and_times = (0..q).flat_map(|x| powers.map(|power| field.multiply(power, x))).collect();
        Self { n, q, field: Some(field), generators, places, moved, back, over_and_times }
    }

    /// Supernodes.
    pub fn supernodes(&self) -> u32 {
        self.n * self.q
    }

    /// X: the differences of neighbours in a cluster.
    pub fn generators(&self) -> &[u32] {
        &self.generators
    }

    /// Links of a supernode to others of its cluster.
    #[inline(always)]
    fn degree_inside(&self) -> u32 {
        self.generators.len() as u32
    }

    /// Links of a supernode.
    #[inline(always)]
    pub fn degree(&self) -> u32 {
        self.degree_inside() + self.n - 1
    }

    /// The cluster and the label of a supernode.
    #[inline(always)]
    pub fn parts(&self, supernode: u32) -> (u32, u32) {
        (supernode / self.q, supernode % self.q)
    }

    /// The label in cluster `to` of the neighbour that the supernode with label x of cluster `from` has there.
    #[inline(always)]
    fn across(&self, from: u32, x: u32, to: u32) -> u32 {
        // No branch, which would often be mispredicted.
        self.over_and_times[(2 * x + u32::from(to < from)) as usize]
    }

    /// The position of the generator that leads from label x to label y.
    #[inline(always)]
    fn inside(&self, x: u32, y: u32) -> Option<u32> {
        let place = self.place(x, y);
        (place != NOT_THERE).then_some(place.into())
    }

    #[inline(always)]
    fn place(&self, x: u32, y: u32) -> u16 {
        self.places[x as usize * self.q as usize + y as usize]
    }

    /// The element y - x.
    #[inline(always)]
    pub fn difference(&self, x: u32, y: u32) -> u32 {
        self.field.as_ref().map_or(0, |field| field.subtract(y, x))
    }

    /// The number, in the order of rule G, of the link to a neighbour in another cluster.
    #[inline(always)]
    fn link_across(&self, own: u32, to: u32) -> u32 {
        self.degree_inside() + to - u32::from(to > own)
    }

    /// The neighbour that a link leads to.
    #[inline(always)]
    pub fn neighbor(&self, supernode: u32, link: u32) -> u32 {
        let (c, x) = self.parts(supernode);
        let inside = self.degree_inside();
        if link < inside {
            return c * self.q + self.moved[(x * inside + link) as usize];
        }
        let to = self.cluster_across(c, link);
        to * self.q + self.across(c, x, to)
    }

    /// The cluster that a link to another one leads to.
    #[inline(always)]
    fn cluster_across(&self, own: u32, link: u32) -> u32 {
        let other = link - self.degree_inside();
        other + u32::from(other >= own)
    }

    /// How the neighbour at the end of a link counts it.
    #[inline(always)]
    pub fn back(&self, supernode: u32, link: u32) -> u32 {
        let own = supernode / self.q;
        match self.back.get(link as usize) {
            Some(&back) => back,
            None => self.link_across(self.cluster_across(own, link), own),
        }
    }

    /// The link between two supernodes, given by cluster and label, as the first counts it.
    #[inline(always)]
    pub fn link(&self, (c, x): (u32, u32), (d, y): (u32, u32)) -> Option<u32> {
        if c == d {
            return self.inside(x, y);
        }
        (self.across(c, x, d) == y).then(|| self.link_across(c, d))
    }

    /// [`Galaxy::link`] between two neighbours, without a branch, which would often be mispredicted. Of two that are not joined
    /// it is any number.
    #[inline(always)]
    pub fn link_to_neighbor(&self, (c, x): (u32, u32), (d, y): (u32, u32)) -> u32 {
        select_unpredictable(c == d, self.place(x, y).into(), self.link_across(c, d))
    }

    /// Calls `visit` with each link of the first of two supernodes inside their cluster, and whether it leads to a neighbour of
    /// both.
    #[inline(always)]
    fn candidates_inside(&self, x: u32, y: u32, mut visit: impl FnMut(u32, bool)) {
        let inside = self.degree_inside();
        let moved = &self.moved[(x * inside) as usize..((x + 1) * inside) as usize];
        (0..).zip(moved).for_each(|(link, middle)| visit(link, self.inside(*middle, y).is_some()));
    }

    /// The links that lead to a neighbour of both in their cluster, by the difference of the labels of two neighbours.
    pub fn detours(&self) -> Vec<Vec<u32>> {
        let mut detours = vec![Vec::new(); self.q as usize];
        for &generator in &self.generators {
            self.candidates_inside(0, generator, |link, common| {
                if common {
                    detours[generator as usize].push(link);
                }
            });
        }
        detours
    }

    /// Calls `visit` with each path of two links from the first to the second, of two supernodes that are not joined.
    #[inline(always)]
    pub fn common(&self, (c, x): (u32, u32), (d, y): (u32, u32), mut visit: impl FnMut(Over)) {
        if c == d {
            let inside = self.degree_inside();
            let moved = &self.moved[(x * inside) as usize..((x + 1) * inside) as usize];
            for (first, &middle) in (0..).zip(moved) {
                if let Some(second) = self.inside(middle, y) {
                    visit(Over { middle: c * self.q + middle, first: self.both(first), second: self.both(second) });
                }
            }
            return;
        }
        let (over, back) = (self.across(c, x, d), self.across(d, y, c));
        let across = |from, to| [self.link_across(from, to), self.link_across(to, from)];
        if let Some(first) = self.inside(x, back) {
            visit(Over { middle: c * self.q + back, first: self.both(first), second: across(c, d) });
        }
        if let Some(second) = self.inside(over, y) {
            visit(Over { middle: d * self.q + over, first: across(c, d), second: self.both(second) });
        }
        self.third_clusters((c, x), (d, y), (over, back), |e| {
            visit(Over { middle: e * self.q + self.across(c, x, e), first: across(c, e), second: across(e, d) });
        });
    }

    /// How both ends of a link inside a cluster count it.
    #[inline(always)]
    fn both(&self, link: u32) -> [u32; 2] {
        [link, self.back[link as usize]]
    }

    /// Calls `visit` with the third clusters in which two supernodes of two clusters have the same neighbour, given where the
    /// link of each to the cluster of the other leads.
    #[inline(always)]
    fn third_clusters(
        &self,
        (c, x): (u32, u32),
        (d, y): (u32, u32),
        (over, back): (u32, u32),
        mut visit: impl FnMut(u32),
    ) {
        // To clusters above or below their own both labels change alike: they have it if they are the same. Between the clusters
        // it is ξ x for one and what ξ takes to y for the other, as it is here for the clusters themselves.
        let (low, high, same) = (c.min(d), c.max(d), x == y);
        for (range, common) in [(0..low, same), (low + 1..high, over == back), (high + 1..self.n, same)] {
            if common {
                range.for_each(&mut visit);
            }
        }
    }

    /// Calls `visit` with the first links of the paths of [`Galaxy::common`], in their order, and in between with other numbers: also
    /// with whether it is such a link. A `visit` without branches takes less time than a branch on what is often as likely as
    /// not.
    #[inline(always)]
    pub fn candidates(&self, (c, x): (u32, u32), (d, y): (u32, u32), mut visit: impl FnMut(u32, bool)) {
        if c == d {
            self.candidates_inside(x, y, visit);
            return;
        }
        // Where the link of each to the cluster of the other leads.
        let (over, back) = (self.across(c, x, d), self.across(d, y, c));
        let own = self.place(x, back);
        visit(own.into(), own != NOT_THERE);
        visit(self.link_across(c, d), self.inside(over, y).is_some());
        self.third_clusters((c, x), (d, y), (over, back), |cluster| visit(self.link_across(c, cluster), true));
    }
}

/// A Galaxyfly's parameters.
#[derive(Debug)]
pub struct Galaxyfly {
    /// How its supernodes are joined.
    pub galaxy: Arc<Galaxy>,
    /// Routers per supernode.
    pub a: u32,
    /// Terminals per router.
    pub p: u32,
    /// Global ports per router.
    pub h: u32,
    /// Which router has which link.
    pub wiring: Wiring,
}

impl Galaxyfly {
    /// The supernode of a router.
    #[inline(always)]
    pub fn supernode(&self, router: RouterId) -> u32 {
        router.0 / self.a
    }

    /// The links of a supernode by their positions, where these are not in the order of rule G.
    fn by_place(&self, supernode: u32) -> Option<Vec<u32>> {
        let galaxy = &self.galaxy;
        let mut links: Vec<u32> = (0..galaxy.degree()).collect();
        let distance =
            |link: &u32| (galaxy.neighbor(supernode, *link) + galaxy.supernodes() - supernode) % galaxy.supernodes();
        match self.wiring {
            Wiring::G | Wiring::RoundRobin => return None,
            Wiring::Absolute => links.sort_unstable_by_key(|&link| galaxy.neighbor(supernode, link)),
            Wiring::Relative => links.sort_unstable_by_key(distance),
            Wiring::Palmtree => links.sort_unstable_by_key(|link| std::cmp::Reverse(distance(link))),
            Wiring::Random(seed) => Rng::stream(seed.into(), supernode.into()).shuffle(&mut links),
        }
        Some(links)
    }

    /// The router of a supernode and its global port for the link at a place.
    #[inline(always)]
    fn port(&self, place: u32) -> (u32, u32) {
        match self.wiring {
            _ if self.a == 1 => (0, place),
            Wiring::RoundRobin => (place % self.a, place / self.a),
            _ => (place / self.h, place % self.h),
        }
    }

    /// The position of the link at a global port of a router of a supernode.
    #[inline(always)]
    fn place(&self, router: u32, port: u32) -> u32 {
        match self.wiring {
            Wiring::RoundRobin => port * self.a + router,
            _ => router * self.h + port,
        }
    }

    /// The links of each router of a supernode, to whichever others.
    fn degrees(&self) -> Vec<u32> {
        let mut degrees = vec![self.a - 1; self.a as usize];
        (0..self.galaxy.degree()).for_each(|place| degrees[self.port(place).0 as usize] += 1);
        degrees
    }

    /// Supernodes a cabinet, where a cluster has more terminals than a cabinet takes: as evenly as can be.
    fn supernodes_a_cabinet(&self) -> u32 {
        let fit = (TERMINALS_A_CABINET / self.supernode_terminals()).max(1) as u32;
        self.galaxy.q.div_ceil(self.galaxy.q.div_ceil(fit))
    }

    fn supernode_terminals(&self) -> u64 {
        u64::from(self.a) * u64::from(self.p)
    }
}

/// A cabinet holds 200 to 360 terminals (section 5.3).
const TERMINALS_A_CABINET: u64 = 360;

impl Structure for Galaxyfly {
    /// Clusters of one supernode are the groups of a dragonfly.
    fn compares_global_links(&self) -> bool {
        self.galaxy.q == 1
    }

    /// A cluster.
    fn group_size(&self) -> Option<u32> {
        Some(self.galaxy.q * self.a)
    }

    /// A supernode a column, a cluster a block.
    fn blocks(&self) -> Option<[u32; 3]> {
        Some([self.a, self.galaxy.q, self.galaxy.n])
    }

    /// As many clusters as have 360 terminals at most; where one has more, as many supernodes of it (sections 5.3
    /// and 6).
    fn cabinet(&self, router: RouterId) -> Option<u32> {
        let (cluster, x) = self.galaxy.parts(self.supernode(router));
        let clusters = TERMINALS_A_CABINET / (u64::from(self.galaxy.q) * self.supernode_terminals());
        if clusters > 0 {
            return Some(cluster / clusters.min(self.galaxy.n.into()) as u32);
        }
        let each = self.supernodes_a_cabinet();
        Some(cluster * self.galaxy.q.div_ceil(each) + x / each)
    }

    /// "About 1-1.5 m long on average" (section 6.1).
    fn cabinet_cable_m(&self) -> f64 {
        1.25
    }

    /// Multiplication by a square keeps X if q = 4 l + 1, and commutes with ξ: of the labels of a cluster, 0, the squares
    /// and the others are alike. That states nothing of single routers of a supernode.
    fn orbits(&self) -> Vec<(RouterId, u32)> {
        let Some(field) = self.galaxy.field.as_ref().filter(|_| self.a == 1 && self.galaxy.q % 4 == 1) else {
            return Vec::new();
        };
        let half = self.galaxy.q / 2;
        let labels = [(0, 1), (field.power(0), half), (field.power(1), half)];
        let of_cluster = |c: u32| labels.map(|(x, count)| (RouterId(c * self.galaxy.q + x), count));
        (0..self.galaxy.n).flat_map(of_cluster).collect()
    }

    /// "We arrange any two terminals in different clusters to communicate" (section 5): any terminal of the next
    /// cluster, which on a dragonfly, q = 1, is the next group.
    fn worst_case(&self) -> WorstCase {
        if self.galaxy.n == 1 { WorstCase::LongestMatching } else { WorstCase::NextGroup }
    }
}

/// The most global ports of a router, unless its links need more.
const MOST_GLOBAL_PORTS: u32 = 1024;

fn build(params: &Params) -> Result<Network> {
    let [n, q, a] = [params.required("n")?, params.required("q")?, params.required("a")?];
    let (p, wiring) = (params.concentration(), read_wiring(params)?);
    if q > 1 {
        check_order(params, q)?;
    }
    let degree = n - 1 + generators(q);
    let routers = product([n, q, a]);
    let local = routers.saturating_mul(u128::from(a) - 1) / 2;
    params.guard_size(routers, product([routers, p.into()]), local + product([n, q, degree]) / 2)?;
    let least = degree.div_ceil(a);
    let h = params.count("h").unwrap_or(least);
    if h < least {
        return Err(params.mistake(format!(
            "h is {h}; a supernode of {a} routers has {degree} links to others, so that h must be at least {least}"
        )));
    }
    if h > MOST_GLOBAL_PORTS.max(least) {
        return Err(params.mistake(format!(
            "h is {h}; it must be from {least} to {}, ports beyond {least} being spare ones",
            MOST_GLOBAL_PORTS.max(least)
        )));
    }
    let galaxyfly = Galaxyfly { galaxy: Arc::new(Galaxy::new(n, q)), a, p, h, wiring };
    join(params.spec().to_owned(), galaxyfly)
}

fn read_wiring(params: &Params) -> Result<Wiring> {
    let seed = params.count("seed");
    let name = params.choice("wiring");
    if seed.is_some() && name != "random" {
        return Err(params.mistake(format!("seed is for wiring=random only; the wiring is {name}")));
    }
    Ok(match name {
        "absolute" => Wiring::Absolute,
        "relative" => Wiring::Relative,
        "palmtree" => Wiring::Palmtree,
        "round-robin" => Wiring::RoundRobin,
        "random" => Wiring::Random(seed.unwrap_or(1)),
        _ => Wiring::G,
    })
}

/// Where the links of all supernodes are, if not in the order of rule G: the position of each link and the link at each
/// place, supernode by supernode.
struct Orders {
    degree: u32,
    places: Vec<u32>,
    links: Vec<u32>,
}

impl Orders {
    fn new(galaxyfly: &Galaxyfly) -> Self {
        let (mut places, mut links) = (Vec::new(), Vec::new());
        for order in (0..galaxyfly.galaxy.supernodes()).map_while(|supernode| galaxyfly.by_place(supernode)) {
            let first = places.len();
            places.resize(first + order.len(), 0);
            (0..).zip(&order).for_each(|(place, &link)| places[first + link as usize] = place);
            links.extend(order);
        }
        Self { degree: galaxyfly.galaxy.degree(), places, links }
    }

    #[inline(always)]
    fn place(&self, supernode: u32, link: u32) -> u32 {
        self.places.get((supernode * self.degree + link) as usize).copied().unwrap_or(link)
    }

    #[inline(always)]
    fn link(&self, supernode: u32, place: u32) -> u32 {
        self.links.get((supernode * self.degree + place) as usize).copied().unwrap_or(place)
    }
}

fn join(spec: String, galaxyfly: Galaxyfly) -> Result<Network> {
    let orders = Orders::new(&galaxyfly);
    let degrees = galaxyfly.degrees().repeat(galaxyfly.galaxy.supernodes() as usize);
    let structure = Arc::new(galaxyfly);
    let Galaxyfly { galaxy, a, p, .. } = &*structure;
    let (a, local) = (*a, a - 1);
    let end = |router: u32, port: u32| {
        let (supernode, own) = (router / a, router % a);
        if port < local {
            let peer = port + u32::from(port >= own);
            return (supernode * a + peer, own - u32::from(own > peer), LinkClass::Local);
        }
        let link = orders.link(supernode, structure.place(own, port - local));
        let peer = galaxy.neighbor(supernode, link);
        let (to, there) = structure.port(orders.place(peer, galaxy.back(supernode, link)));
        (peer * a + to, local + there, LinkClass::Global)
    };
    Network::by_places(spec, (FAMILY.name, structure.clone()), *p, &degrees, end)
}
