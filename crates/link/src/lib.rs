//! Lines and captures: what lies between a discipline and the world.

pub mod capture;
