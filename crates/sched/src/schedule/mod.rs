//! Schedulers: who sends next?

pub mod cbs;
pub mod datakit;
pub mod edf;
pub mod fifo;
pub mod fq;
pub mod fq_pacing;
pub mod pifo;
pub mod priority;
pub mod round_robin;
pub mod sp_pifo;
pub mod token_bucket;
pub mod virtual_clock;
