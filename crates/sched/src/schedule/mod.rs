//! Schedulers: who sends next?

pub mod cbs;
pub mod datakit;
pub mod drr_plus_plus;
pub mod edf;
pub mod fifo;
pub mod fq;
pub mod fq_pacing;
pub mod leap_forward_virtual_clock;
pub mod pifo;
pub mod priority;
pub mod round_robin;
pub mod scfq;
pub mod sfq;
pub mod sp_pifo;
pub mod token_bucket;
pub mod virtual_clock;
pub mod wf2q;
pub mod wf2q_plus;
pub mod wfq;
