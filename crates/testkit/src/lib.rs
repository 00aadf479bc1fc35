//! Workloads, slow and obvious oracles, and a seeded mutator; used by tests only.

pub mod arrivals;
pub mod drift;
pub mod gps_oracle;
pub mod mutate;
