//! Schedulers: who sends next?

pub mod cbs;
pub mod datakit;
pub mod drr;
pub mod drr_plus_plus;
pub mod edf;
pub mod ets;
pub mod fifo;
pub mod fq;
pub mod fq_pacing;
pub mod leap_forward_virtual_clock;
pub mod pifo;
pub mod priority;
pub mod qfq;
pub mod qfq_plus;
pub mod round_robin;
pub mod scfq;
pub mod sfq;
pub mod sp_pifo;
pub mod srr;
pub mod stochastic_fq;
pub mod token_bucket;
pub mod virtual_clock;
pub mod wf2q;
pub mod wf2q_plus;
pub mod wfq;
pub mod wrr;
