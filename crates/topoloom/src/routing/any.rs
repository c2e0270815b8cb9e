//! Any routing behind one type: compiled with the engine (*hot*), or called by it through a reference (*dynamic*).

use super::{Again, Move, PacketState, Routing, View};
use crate::cycle::{Compiled, CompiledAdaptive};
use crate::network::RouterId;
use crate::rng::Rng;

/// Any routing that users can name.
///
/// A hot one is compiled with the arrival of flits, once for each stride of VCs; a dynamic one is compiled once, and
/// costs the engine some 8 to 10 % of its speed. Hot is worth its build time for what users run most.
pub struct AnyRouting(Kind);

enum Kind {
    Hot(Box<dyn Compiled>),
    Adaptive(Box<dyn CompiledAdaptive>),
    Dynamic(Dynamic),
}

impl AnyRouting {
    /// Compiles the engine for `routing`.
    pub fn hot<R: Routing + 'static>(routing: R) -> Self {
        Self(Kind::Hot(Box::new(routing)))
    }

    /// Compiles the engine for `routing`, which decides again.
    pub fn hot_adaptive<R: Routing + 'static>(routing: R) -> Self {
        Self(Kind::Adaptive(Box::new(routing)))
    }

    /// Lets the engine call `routing` through a reference.
    pub fn dynamic<R: Routing + 'static>(routing: R) -> Self {
        Self(Kind::Dynamic(Dynamic(Box::new(routing))))
    }

    /// For the engine.
    pub(crate) fn compiled(&self) -> &dyn Compiled {
        match &self.0 {
            Kind::Hot(routing) => &**routing,
            Kind::Adaptive(_) => self,
            Kind::Dynamic(routing) => routing,
        }
    }

    /// For the engine, where heads decide again.
    pub(crate) fn compiled_adaptive(&self) -> &dyn CompiledAdaptive {
        match &self.0 {
            Kind::Hot(_) => self,
            Kind::Adaptive(routing) => &**routing,
            Kind::Dynamic(routing) => routing,
        }
    }

    /// The routing itself, without a second reference in between.
    #[inline(always)]
    fn inner(&self) -> &dyn DynRouting {
        match &self.0 {
            Kind::Hot(routing) => &**routing,
            Kind::Adaptive(routing) => &**routing,
            Kind::Dynamic(routing) => routing.inner(),
        }
    }
}

/// The face of a routing that can be called through a reference.
pub trait DynRouting: Routing {
    /// [`Routing::start`].
    fn start_dyn(&self, src: RouterId, dst: RouterId, view: &dyn View, rng: &mut Rng) -> PacketState;

    /// [`Routing::choose`].
    fn choose_dyn(&self, at: RouterId, state: PacketState, dst: RouterId, view: &dyn View, rng: &mut Rng) -> Move;
}

impl<R: Routing> DynRouting for R {
    fn start_dyn(&self, src: RouterId, dst: RouterId, view: &dyn View, rng: &mut Rng) -> PacketState {
        self.start(src, dst, &view, rng)
    }

    fn choose_dyn(&self, at: RouterId, state: PacketState, dst: RouterId, view: &dyn View, rng: &mut Rng) -> Move {
        self.choose(at, state, dst, &view, rng)
    }
}

/// A routing that is called through a reference.
struct Dynamic(Box<dyn DynRouting>);

impl Dynamic {
    #[inline(always)]
    fn inner(&self) -> &dyn DynRouting {
        &*self.0
    }
}

macro_rules! forward {
    ($type:ty) => {
        impl Routing for $type {
            fn classes(&self) -> u32 {
                self.inner().classes()
            }

            fn vcs(&self) -> u32 {
                self.inner().vcs()
            }

            fn by_terminal(&self) -> bool {
                self.inner().by_terminal()
            }

            fn starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<PacketState>) {
                self.inner().starts(src, dst, out);
            }

            fn moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<Move>) {
                self.inner().moves(at, state, dst, out);
            }

            fn start<V: View>(&self, src: RouterId, dst: RouterId, view: &V, rng: &mut Rng) -> PacketState {
                self.inner().start_dyn(src, dst, view, rng)
            }

            fn choose<V: View>(
                &self,
                at: RouterId,
                state: PacketState,
                dst: RouterId,
                view: &V,
                rng: &mut Rng,
            ) -> Move {
                self.inner().choose_dyn(at, state, dst, view, rng)
            }

            fn eject_class(&self, state: PacketState) -> Option<u8> {
                self.inner().eject_class(state)
            }

            fn snapshot_period(&self) -> u32 {
                Routing::snapshot_period(self.inner())
            }

            fn decides_again(&self) -> Again {
                self.inner().decides_again()
            }

            fn takes_whole_packets(&self, class: u8) -> bool {
                self.inner().takes_whole_packets(class)
            }

            fn diverts(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<PacketState>) {
                self.inner().diverts(at, state, dst, out);
            }

            fn escape_classes(&self) -> u32 {
                self.inner().escape_classes()
            }

            fn keeps_bubbles(&self) -> bool {
                self.inner().keeps_bubbles()
            }

            fn enters(&self, before: PacketState, hop: &Move) -> bool {
                self.inner().enters(before, hop)
            }

            fn traffic_groups(&self) -> u32 {
                self.inner().traffic_groups()
            }

            fn traffic_group(&self, src: RouterId) -> u32 {
                self.inner().traffic_group(src)
            }

            fn unproved(&self) -> bool {
                self.inner().unproved()
            }

            fn contents(&self) -> u64 {
                self.inner().contents()
            }

            fn note(&self) -> Option<String> {
                self.inner().note()
            }

            fn hops(&self, src: RouterId, dst: RouterId) -> Option<u32> {
                self.inner().hops(src, dst)
            }

            fn oblivious(&self) -> bool {
                self.inner().oblivious()
            }

            fn likely_starts(&self, src: RouterId, dst: RouterId, out: &mut Vec<(f64, PacketState)>) {
                self.inner().likely_starts(src, dst, out);
            }

            fn likely_moves(&self, at: RouterId, state: PacketState, dst: RouterId, out: &mut Vec<(f64, Move)>) {
                self.inner().likely_moves(at, state, dst, out);
            }
        }
    };
}

forward!(Dynamic);
forward!(AnyRouting);
