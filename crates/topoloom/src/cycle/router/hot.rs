//! The *hot* routings of a router model: those that the arrival of flits is compiled for.
//!
//! All others are called through a reference, at some 8 to 10 % of the engine's speed. Being hot is worth its build time
//! for what users run most.

/// Declares a function that finds the arrivals compiled for a model and a routing, among those of these types.
macro_rules! hot {
    ($(#[$doc:meta])* $name:ident $(<const $log:ident: u32>)?, $model:ty: $($routing:ty,)+) => {
        $(#[$doc])*
        pub fn $name$(<const $log: u32>)?(routing: &AnyRouting) -> &dyn Arrivals<$model> {
            $(if let Some(routing) = routing.downcast_ref::<$routing>() {
                return routing;
            })+
            routing
        }
    };
}

pub(super) use hot;
