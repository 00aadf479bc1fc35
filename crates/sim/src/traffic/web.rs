//! Web: sessions arrive at random; each gets some pages of some objects, and thinks between pages.
//!
//! Use when: sessions load pages of several objects and think between them. For single transfers at
//! a known load use `flow_arrivals`; for a fixed number of users, `request_response`.
//! Source: the web traffic of ns-2 (`webtraf.cc`, and the example of its manual): sessions of 10
//! pages, pages a second apart, objects 10 ms apart with Pareto sizes of mean 10 packets and shape
//! 1.2. The number of objects in a page and the gap between sessions are from memory and therefore
//! settings.
//! Departs: the time to think begins when the last object of a page has arrived; sizes are Pareto,
//! not Pareto II.
//! Chosen: sessions, not objects, are Poisson. An object takes the connection (of the entry's
//! `count`) that has been idle longest. With none idle it is refused and counted, and its page
//! continues as if it had arrived. Objects of a page do not wait for one another.
//! Cost: O(log sessions) an object.
//! Bound: none of its own.

use super::distribution::{Distribution, Sampler};
use super::registry::Entry;
use super::{Transfer, TransferSettings, Transfers};
use fairq_link::random::Stream;
use fairq_sched::units::{Bytes, Time};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

settings! {
    /// Sessions, pages, objects.
    pub struct Settings {
        /// Mean time between sessions; the gaps are exponential.
        pub session_gap: Time = Time::from_s(1),
        /// Pages of a session.
        pub pages: u32 = 10,
        /// Objects of a page.
        pub objects: u32 = 1,
        /// Whether `pages` and `objects` are fixed numbers, or means.
        pub counts: Counts = Counts::default(),
        /// The distribution of the time from the last object of a page to the next page.
        pub think: Distribution<Time> = Distribution::exponential(Time::from_s(1)),
        /// The distribution of the time from object to object.
        pub object_gap: Distribution<Time> = Distribution::exponential(Time::from_ms(10)),
        /// The distribution of an object's bytes on the line.
        pub size: Distribution<Bytes> = Distribution::pareto(Bytes(10_000), 1.2),
        /// Bytes of a packet of IP; the last packet is the rest; the default depends on the
        /// edition.
        pub packet: Option<Bytes> = None,
    }
}

/// Whether numbers are fixed or random.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Counts {
    /// The same number for all.
    #[default]
    Fixed,
    /// Geometric, at least one, with the number as mean.
    Geometric,
}

impl TransferSettings for Settings {
    transfers_in_packets!();

    fn fault(&self) -> Option<&'static str> {
        if self.session_gap < Time(1000) {
            return Some("session_gap is at least a nanosecond");
        }
        if ![self.pages, self.objects].iter().all(|count| (1..=1_000_000).contains(count)) {
            return Some("pages and objects are from 1 to 1000000");
        }
        self.think.fault().or_else(|| self.object_gap.fault()).or_else(|| self.size.fault())
    }

    fn example() -> Self {
        Self {
            session_gap: Time::from_ms(500),
            pages: 2,
            objects: 3,
            counts: Counts::Geometric,
            think: Distribution::exponential(Time::from_s(1)),
            object_gap: Distribution::exponential(Time::from_ms(10)),
            size: Distribution::constant(Bytes(4000)),
            packet: Some(Bytes(1000)),
        }
    }

    fn transfers(&self, entry: Entry) -> Box<dyn Transfers> {
        Box::new(Web::new(self, entry.start(), entry.stream))
    }
}

/// A session in progress.
#[derive(Clone, Copy, Debug, Default)]
struct Session {
    /// Pages after the present one.
    pages: u32,
    /// Objects of the present page that are still to begin.
    objects: u32,
    in_progress: u32,
}

/// The sessions in progress, and the times of their next objects.
pub struct Web {
    settings: Settings,
    think: Sampler,
    object_gap: Sampler,
    size: Sampler,
    /// When the next session begins.
    arrival: Time,
    /// Sessions by their number; numbers of sessions that have ended are in `free`.
    sessions: Vec<Session>,
    free: Vec<u32>,
    /// When a session's next object begins.
    next: BinaryHeap<Reverse<(Time, u32)>>,
    arrivals: Stream,
    stream: Stream,
}

impl Web {
    /// The first session begins a random time after `start`.
    #[must_use]
    pub fn new(settings: &Settings, start: Time, mut stream: Stream) -> Self {
        let arrivals = Stream::new(stream.bits(), "sessions");
        let mut this = Self {
            settings: settings.clone(),
            think: settings.think.sampler(),
            object_gap: settings.object_gap.sampler(),
            size: settings.size.sampler(),
            arrival: start,
            sessions: Vec::new(),
            free: Vec::new(),
            next: BinaryHeap::new(),
            arrivals,
            stream,
        };
        this.plan_arrival();
        this
    }

    fn plan_arrival(&mut self) {
        let gap = self.arrivals.exponential(self.settings.session_gap.as_s());
        self.arrival = self.arrival.saturating_add(Time::from_s_f64(gap));
    }

    fn count(&mut self, mean: u32) -> u32 {
        match self.settings.counts {
            Counts::Geometric if mean > 1 => {
                // P(more than k) = (1 - 1/mean)^k.
                let fail = libm::log1p(-1.0 / f64::from(mean));
                (libm::log(1.0 - self.stream.uniform()) / fail) as u32 + 1
            }
            Counts::Fixed | Counts::Geometric => mean,
        }
    }

    /// A session begins with its first page.
    fn begin_session(&mut self) {
        let pages = self.count(self.settings.pages) - 1;
        let objects = self.count(self.settings.objects);
        let session = Session { pages, objects, in_progress: 0 };
        let number = self.free.pop().unwrap_or_else(|| {
            self.sessions.push(session);
            (self.sessions.len() - 1) as u32
        });
        self.sessions[number as usize] = session;
        self.next.push(Reverse((self.arrival, number)));
    }
}

impl Transfers for Web {
    fn next_time(&self) -> Time {
        self.next.peek().map_or(self.arrival, |Reverse((time, _))| self.arrival.min(*time))
    }

    fn begin(&mut self, now: Time) -> Option<Transfer> {
        while self.arrival <= now {
            self.begin_session();
            self.plan_arrival();
        }
        let Reverse((_, number)) = self.next.pop()?;
        let bytes = self.size.draw_bytes(&mut self.stream);
        let session = &mut self.sessions[number as usize];
        session.objects -= 1;
        session.in_progress += 1;
        if session.objects > 0 {
            let gap = self.object_gap.draw_time(&mut self.stream);
            self.next.push(Reverse((now.saturating_add(gap), number)));
        }
        Some(Transfer { bytes, copy: None, tag: number })
    }

    fn ended(&mut self, now: Time, tag: u32) {
        let session = &mut self.sessions[tag as usize];
        session.in_progress -= 1;
        if session.in_progress > 0 || session.objects > 0 {
            return;
        }
        if session.pages == 0 {
            self.free.push(tag);
            return;
        }
        session.pages -= 1;
        let objects = self.count(self.settings.objects);
        self.sessions[tag as usize].objects = objects;
        let think = self.think.draw_time(&mut self.stream);
        self.next.push(Reverse((now.saturating_add(think), tag)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixed() -> Settings {
        let ms = |n| Distribution::constant(Time::from_ms(n));
        Settings {
            session_gap: Time::from_s(1000),
            pages: 2,
            objects: 2,
            think: ms(50),
            object_gap: ms(10),
            size: Distribution::constant(Bytes(300)),
            ..Settings::default()
        }
    }

    #[test]
    fn a_session_thinks_from_the_last_object_of_a_page_to_the_next_page() {
        let mut web = Web::new(&fixed(), Time::ZERO, Stream::new(1, "test"));
        let first = web.next_time();
        let after = |ms| first + Time::from_ms(ms);
        let object = Some(Transfer { bytes: 300, copy: None, tag: 0 });
        assert_eq!(web.begin(first), object);
        assert_eq!(web.next_time(), after(10));
        // The first object arrives before the second begins.
        web.ended(after(5), 0);
        assert_eq!(web.begin(after(10)), object);
        assert!(web.next_time() > after(1000), "the page waits for its object");
        web.ended(after(200), 0);
        assert_eq!(web.next_time(), after(250));
        assert_eq!(web.begin(after(250)), object);
        assert_eq!(web.begin(after(260)), object);
        web.ended(after(270), 0);
        web.ended(after(280), 0);
        assert!(web.next_time() > after(1000), "the session is over");
        assert_eq!(web.free, [0]);
    }

    #[test]
    fn geometric_counts_have_their_mean() {
        let settings = Settings { counts: Counts::Geometric, ..fixed() };
        let mut web = Web::new(&settings, Time::ZERO, Stream::new(1, "test"));
        let n = 100_000;
        let sum: u32 = (0..n).map(|_| web.count(10)).sum();
        // Variance of a geometric of mean m is m(m - 1).
        assert!((f64::from(sum) / f64::from(n) - 10.0).abs() < 4.0 * (90.0 / f64::from(n)).sqrt(), "{sum}");
        assert_eq!(web.count(1), 1);
    }
}
