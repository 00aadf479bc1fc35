//! What tests share: slow and obvious oracles, a seeded mutator and scenarios, beside the
//! workloads, the driver, the checking wrapper and the measures of `fairq-audit`. For tests only.

pub use fairq_audit::{arrivals, case, checked, draw, driver, invariant, measure, uneven_line, world};

pub mod discipline_oracle;
pub mod drift;
pub mod gps_oracle;
pub mod hierarchy_oracle;
pub mod leaves;
pub mod mutate;
pub mod real;
pub mod scenarios;
pub mod shown;
pub mod skip;
pub mod tag_oracle;
