//! What tests share: a driver, a checking wrapper, slow and obvious oracles, seeded draws.

pub mod checked;
pub mod discipline_oracle;
pub mod draw;
pub mod driver;
