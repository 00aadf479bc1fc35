//! Schedulers: who sends next?

pub mod drr_plus_plus;
pub mod fifo;
pub mod fq;
pub mod round_robin;
pub mod token_bucket;
pub mod virtual_clock;
