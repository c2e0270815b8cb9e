//! `flex:6x6x3,p=10`: FleX, layers of Nx x Ny routers without links inside a layer.
//!
//! Router (x, y, z) has the id Nx*Ny*z + Nx*y + x. It is linked to (x', y', z±1 modulo the layers) if exactly one of
//! x' = x, y' = y holds. Network ports of a router: to the next layer, then to the previous one; in each by ascending x
//! along its row, then by ascending y along its column. Two layers are linked once: next and previous are the same.
//! The properties that FleX is published with need three layers or more and both sides of three or more. Link class:
//! `local`.

use super::params::{P, Params, product};
use super::{Family, Roles};
use crate::error::Result;
use crate::network::{Grid, LinkClass, Network, NetworkBuilder, RouterId, Structure, WorstCase};

pub(super) const FAMILY: Family = Family {
    name: "flex",
    summary: "FleX: layers of Nx x Ny routers, linked along rows and columns of the neighbouring layers",
    sizes: Some("6x6x3"),
    keys: &[P],
    example: "flex:6x6x3,p=10",
    source: "Jeon, Joo, Kim, Kim and Youn, FleX: a flex interconnected HPC system with stochastic load balancing scheme, \
             IEEE Access",
    routings: &["min-spread"],
    roles: Roles::ANY,
    build,
};

/// A FleX's sides and layers.
#[derive(Debug)]
pub struct Flex {
    grid: Grid,
    notes: Vec<String>,
}

impl Flex {
    /// Routers of a layer along x.
    pub fn nx(&self) -> u32 {
        self.grid.sides[0]
    }

    /// Routers of a layer along y.
    pub fn ny(&self) -> u32 {
        self.grid.sides[1]
    }

    /// Layers.
    pub fn layers(&self) -> u32 {
        self.grid.sides[2]
    }

    /// The coordinates (x, y, layer) of a router.
    #[inline(always)]
    pub fn coordinates(&self, router: RouterId) -> (u32, u32, u32) {
        let (nx, ny) = (self.nx(), self.ny());
        (router.0 % nx, router.0 / nx % ny, router.0 / nx / ny)
    }

    /// The router at (x, y, layer).
    #[inline(always)]
    pub fn router(&self, x: u32, y: u32, layer: u32) -> RouterId {
        RouterId((layer * self.ny() + y) * self.nx() + x)
    }
}

impl Structure for Flex {
    fn grid(&self) -> Option<&Grid> {
        Some(&self.grid)
    }

    /// A cabinet holds the routers of one layer and x, stacked by y (section IV-A).
    fn upright_dimension(&self) -> usize {
        1
    }

    fn group_size(&self) -> Option<u32> {
        Some(self.nx() * self.ny())
    }

    /// To the next layer, as the paper does (fig. 12): with three layers p max(ny - 1 + 2 / (nx - 1), nx - 1) / (nx ny)
    /// flits per cycle on the busiest channels of Algorithm 1, those along rows or columns to the layer before.
    fn worst_case(&self) -> WorstCase {
        WorstCase::NextGroup
    }

    fn vertex_transitive(&self) -> bool {
        true
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

/// What of the advertised properties does not hold.
fn notes(nx: u32, ny: u32, layers: u32) -> Vec<String> {
    let side = nx.min(ny);
    let small = (side < 3).then(|| format!("a side is {side}; the diameters of FleX are for sides of 3 or more"));
    let thin = (layers == 2).then(|| "there are two layers, and half the links that a router has with more".to_owned());
    let tables = (side < 3 || layers != 3).then(|| {
        "minimal routing uses tables: Algorithm 1 of FleX is for three layers and sides of 3 or more".to_owned()
    });
    [small, thin, tables].into_iter().flatten().collect()
}

fn build(params: &Params) -> Result<Network> {
    let sides = params.sizes().to_vec();
    let &[nx, ny, layers] = &sides[..] else {
        return Err(params.mistake(format!("{} sizes are given; FleX has 3: Nx x Ny x layers", sides.len())));
    };
    if layers < 2 {
        return Err(params.mistake("there is 1 layer; FleX needs 2 or more, as it has no links inside a layer"));
    }
    let p = params.concentration();
    let routers = product([nx, ny, layers]);
    let steps = if layers == 2 { 1 } else { layers };
    let links = product([u128::from(nx), ny.into(), steps.into(), u128::from(nx) + u128::from(ny) - 2]);
    params.guard_size(routers, product([routers, p.into()]), links)?;
    let mut builder = NetworkBuilder::new(routers as u32).terminals_everywhere(p);
    let flex = Flex { grid: Grid { sides }, notes: notes(nx, ny, layers) };
    for layer in 0..steps {
        link_layers(&mut builder, &flex, layer, (layer + 1) % layers);
    }
    builder.build(params.spec().to_owned(), FAMILY.name, Box::new(flex))
}

/// Links every router of `layer` to its neighbours in the `next` one.
fn link_layers(builder: &mut NetworkBuilder, flex: &Flex, layer: u32, next: u32) {
    let (nx, ny) = (flex.nx(), flex.ny());
    // Ranks: up to nx + ny to the next layer, as many to the previous. In two layers the order of ranks is all that counts.
    let to_previous = nx + ny;
    for y in 0..ny {
        for x in 0..nx {
            let here = flex.router(x, y, layer).0;
            let row = (0..nx).filter(|&other| other != x).map(|other| (flex.router(other, y, next).0, other, x));
            let column =
                (0..ny).filter(|&other| other != y).map(|other| (flex.router(x, other, next).0, nx + other, nx + y));
            for (there, rank, back) in row.chain(column) {
                builder.ranked_link((here, rank), (there, to_previous + back), LinkClass::Local);
            }
        }
    }
}
