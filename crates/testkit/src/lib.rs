//! What tests share: workloads, a driver, a checking wrapper, slow and obvious oracles, a seeded mutator. Used by tests
//! only.

pub mod arrivals;
pub mod checked;
pub mod discipline_oracle;
pub mod draw;
pub mod drift;
pub mod driver;
pub mod gps_oracle;
pub mod measure;
pub mod mutate;
pub mod tag_oracle;
pub mod uneven_line;
