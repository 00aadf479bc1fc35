//! How it is decided when a packet leaves a line: one of a few ways, chosen from what is known of
//! the line before the run. `Line` keeps plain fields that follow from the choice
//! (`Line::set_hop`), because each packet reads them.

use fairq_sched::traits::Traits;
use fairq_sched::units::{Limit, PS_PER_S, Rate, Time};

/// What is known of a line before the run, beside the traits of its discipline.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    /// Its rate, or the nominal one if it varies; `None` if unlimited.
    pub rate: Option<Rate>,
    /// Its propagation delay.
    pub delay: Time,
    /// Whether it shares a pool, in which a packet needs room even before an idle line.
    pub is_pooled: bool,
    /// Whether its device takes packets from the discipline into a ring.
    pub has_ring: bool,
    /// Whether its rate varies: the duration of a transmission depends on when it begins.
    pub varies: bool,
    /// Whether it has impairments: a packet's fate is a random draw at the end of its transmission.
    pub is_impaired: bool,
    /// Whether it changes while it runs.
    pub changes: bool,
    /// Whether its packets leave for another part of the network at the end of their transmission.
    pub leads_out: bool,
    /// Whether all its packets come in order from one other line (`shortcut.rs`).
    pub is_fed: bool,
    /// Whether an observer is told of every event.
    pub is_watched: bool,
}

/// How it is decided when a packet leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hop {
    /// Not at all: the rate is unlimited, so a packet takes no time to send and never waits.
    Open,
    /// By computation at its arrival: a plain FIFO of this limit. The discipline is shown no
    /// packet.
    Computed { limit: Limit, bypass: u32 },
    /// By the discipline, which is asked for packets.
    Asked { bypass: u32, ends: Ends },
}

/// What the end of a transmission is. A packet behind which another waits has an event in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// An event.
    Evented,
    /// No event for a packet behind which none waits.
    Silent,
    /// As `Silent`; also the arrival of a packet is no event, if its fate here was decided when it
    /// was sent on the line before (`shortcut.rs`).
    Foreseen,
}

impl Hop {
    /// The way of packets over a line at `site` whose discipline has `traits`. `bypass`: a packet
    /// of at most this many bytes that finds the line idle need not be shown to the discipline.
    pub(super) fn of(traits: &Traits, site: &Site) -> Self {
        let Some(rate) = site.rate else { return Self::Open };
        // A discipline that allows the bypass is told that the line became idle before it is shown
        // the next packet.
        let hears_ends = traits.preempts || (traits.hears_idle && traits.bypass == 0);
        let decides_at_ends = hears_ends || site.has_ring || site.varies || site.is_impaired || site.changes;
        // An arrival in the instant of its sending comes after the end of the transmission, and not
        // where arrivals go among equal times.
        let is_instant = site.delay == Time::ZERO;
        let bypass = if decides_at_ends || site.is_pooled || is_instant { 0 } else { traits.bypass };
        let is_evented = decides_at_ends || site.leads_out || site.is_watched;
        let is_foreseen = site.is_fed && bypass > 0 && !is_evented;
        if let Some(limit) = traits.fifo
            && takes_time(rate)
            && !(is_evented || is_foreseen || site.is_pooled)
        {
            return Self::Computed { limit, bypass };
        }
        let ends = match (is_evented || is_instant, is_foreseen) {
            (true, _) => Ends::Evented,
            (false, true) => Ends::Foreseen,
            (false, false) => Ends::Silent,
        };
        Self::Asked { bypass, ends }
    }
}

/// Whether no transmission ends at the instant when it begins: at 8 Tbit/s a byte takes one
/// picosecond.
fn takes_time(rate: Rate) -> bool {
    rate.bit_per_s() <= 8 * PS_PER_S
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Limit = Limit::Packets(3);
    const BYPASS: u32 = 1500;

    /// A row of the table: why, where it applies, and the way there.
    type Row = (&'static str, fn(&Traits, &Site) -> bool, fn(&Traits) -> Hop);

    const fn asked(bypass: u32, ends: Ends) -> Hop {
        Hop::Asked { bypass, ends }
    }

    const fn instant(site: &Site) -> bool {
        site.delay.0 == 0
    }

    const fn seen(site: &Site) -> bool {
        site.is_watched || site.leads_out
    }

    fn fifo(traits: &Traits, site: &Site) -> bool {
        traits.fifo.is_some() && site.rate.is_some_and(takes_time)
    }

    /// The first row that applies decides.
    const TABLE: [Row; 17] = [
        ("without a rate a packet never waits", |_, site| site.rate.is_none(), |_| Hop::Open),
        ("a transmission may be interrupted", |traits, _| traits.preempts, |_| asked(0, Ends::Evented)),
        (
            "the discipline must hear that the line is idle at once",
            |traits, _| traits.hears_idle && traits.bypass == 0,
            |_| asked(0, Ends::Evented),
        ),
        ("the ring sends next", |_, site| site.has_ring, |_| asked(0, Ends::Evented)),
        ("the duration depends on the beginning", |_, site| site.varies, |_| asked(0, Ends::Evented)),
        ("the end draws a packet's fate", |_, site| site.is_impaired, |_| asked(0, Ends::Evented)),
        ("the discipline hears of changes with all that waits", |_, site| site.changes, |_| asked(0, Ends::Evented)),
        (
            "the pool is asked for room, and the end is needed",
            |_, site| site.is_pooled && (instant(site) || seen(site)),
            |_| asked(0, Ends::Evented),
        ),
        ("the pool is asked for room", |_, site| site.is_pooled, |_| asked(0, Ends::Silent)),
        (
            "the arrival is behind the end, and that is needed",
            |_, site| instant(site) && seen(site),
            |_| asked(0, Ends::Evented),
        ),
        (
            "the arrival takes the place of the end",
            |traits, site| instant(site) && fifo(traits, site),
            |_| Hop::Computed { limit: LIMIT, bypass: 0 },
        ),
        ("the arrival is behind the end", |_, site| instant(site), |_| asked(0, Ends::Evented)),
        ("an observer sees the end", |_, site| site.is_watched, |traits| asked(traits.bypass, Ends::Evented)),
        ("the end is the packet's way out", |_, site| site.leads_out, |traits| asked(traits.bypass, Ends::Evented)),
        (
            "the line before decides",
            |traits, site| site.is_fed && traits.bypass > 0,
            |traits| asked(traits.bypass, Ends::Foreseen),
        ),
        (
            "a plain FIFO is computed",
            |traits, site| fifo(traits, site),
            |traits| Hop::Computed { limit: LIMIT, bypass: traits.bypass },
        ),
        ("nothing else is needed", |_, _| true, |traits| asked(traits.bypass, Ends::Silent)),
    ];

    /// Every discipline's traits that matter.
    fn all_traits() -> Vec<Traits> {
        let bits = |bits: u32| Traits {
            bypass: if bits & 1 > 0 { BYPASS } else { 0 },
            preempts: bits & 2 > 0,
            hears_idle: bits & 4 > 0,
            replays: bits & 8 > 0,
            fifo: (bits & 16 > 0).then_some(LIMIT),
            ..Traits::PLAIN
        };
        (0..32).map(bits).collect()
    }

    fn all_sites() -> Vec<Site> {
        let rates = [None, Rate::new(8 * PS_PER_S), Rate::new(8 * PS_PER_S + 1)];
        let bits = |rate: Option<Rate>, bits: u32| Site {
            rate,
            delay: Time(u64::from(bits & 1)),
            is_pooled: bits & 2 > 0,
            has_ring: bits & 4 > 0,
            varies: bits & 8 > 0,
            is_impaired: bits & 16 > 0,
            leads_out: bits & 32 > 0,
            is_fed: bits & 64 > 0,
            is_watched: bits & 128 > 0,
            changes: bits & 256 > 0,
        };
        rates.into_iter().flat_map(|rate| (0..512).map(move |number| bits(rate, number))).collect()
    }

    #[test]
    fn each_combination_has_the_way_of_its_row() {
        let mut hits = [0; TABLE.len()];
        for traits in all_traits() {
            for site in all_sites() {
                let row = TABLE.iter().position(|(_, applies, _)| applies(&traits, &site)).unwrap();
                let (why, _, expected) = TABLE[row];
                assert_eq!(Hop::of(&traits, &site), expected(&traits), "{why}: {traits:?} {site:?}");
                hits[row] += 1;
            }
        }
        for (row, hits) in TABLE.iter().zip(hits) {
            assert!(hits > 0, "no combination comes to the row: {}", row.0);
        }
    }
}
