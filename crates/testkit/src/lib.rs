//! Workloads and slow, obvious oracles; used by tests only.

pub mod arrivals;
pub mod drift;
pub mod gps_oracle;
