//! The router models.

pub mod buffer_policy;
pub mod input_queued;
pub mod voq;
