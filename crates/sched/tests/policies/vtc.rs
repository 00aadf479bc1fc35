//! The virtual token counter on lists that try to break its bound, and beside the bound of its
//! paper.

use super::unlimited;
use fairq_sched::units::Weight;
use fairq_sched::work::policies::vtc::{Settings, Vtc};
use fairq_sched::work::policy::{Facts, Policy, Side};
use fairq_sched::work::{Ask, Dispatcher, Ticket};
use fairq_testkit::draw::{Draw, Replay};
use std::collections::VecDeque;

/// An item: input and output.
type Item = (u64, u64);

/// Two tenants that always wait, and others.
struct Server {
    dispatcher: Dispatcher<usize, Item>,
    settings: Settings,
    running: VecDeque<(Ticket, Item)>,
    given: [i128; 2],
    /// The least and the greatest of what the first is ahead of the second, since both wait.
    ahead: Option<[i128; 2]>,
    /// The most that one gained on the other.
    gained: i128,
}

impl Server {
    fn new(settings: &Settings, seats: u32) -> Self {
        let dispatcher = Dispatcher::with_policy(unlimited(seats), Box::new(Vtc::new(settings)));
        Self { dispatcher, settings: settings.clone(), running: VecDeque::new(), given: [0; 2], ahead: None, gained: 0 }
    }

    fn push(&mut self, tenant: usize, item: Item) {
        self.dispatcher.push_sized(&tenant, Ask::default(), item.0, item).expect("no limit");
    }

    /// Starts what may start and notes how far one is ahead of the other.
    fn start(&mut self) {
        while let Some(started) = self.dispatcher.start() {
            self.running.push_back((started.ticket, started.item));
            if let Some(given) = self.given.get_mut(started.tenant) {
                let (input, output) = started.item;
                let weights = [self.settings.input_weight, self.settings.output_weight].map(u64::from);
                // An item counts at least 1.
                *given += i128::from((input * weights[0] + output * weights[1]).max(1));
            }
            let ahead = self.given[0] - self.given[1];
            let [least, most] = self.ahead.unwrap_or([ahead; 2]);
            self.gained = self.gained.max(ahead - least).max(most - ahead);
            self.ahead = Some([least.min(ahead), most.max(ahead)]);
        }
    }

    fn end(&mut self, at: usize) {
        if let Some((ticket, item)) = self.running.remove(at) {
            assert!(self.dispatcher.complete(ticket, item.1));
        }
    }
}

/// The bound for items of at most this input and output.
fn bound(settings: &Settings, seats: u32, largest: Item) -> i128 {
    let policy = Vtc::new(settings);
    let side =
        Side { weight: Weight::ONE, service_max: policy.service(largest.0, largest.1), guess_max: 0, over_max: 0 };
    policy.bound(&Facts { seats, lead: 0, turn_max: 0, over_max: 0, sides: [side; 2] }).expect("a bound") as i128
}

/// 2 max(w_p · L_input, w_q · M): the paper's, M being what the items of all seats hold.
fn bound_of_the_paper(settings: &Settings, seats: u32, largest: Item) -> i128 {
    let (input, output) = (u64::from(settings.input_weight), u64::from(settings.output_weight));
    let tokens = u64::from(seats) * (largest.0 + largest.1);
    2 * i128::from((input * largest.0).max(output * tokens))
}

/// How a list tries to break the bound.
#[derive(Clone, Copy, Debug)]
enum Attack {
    /// The first sends only items without output, then only ones with the most.
    Switch,
    /// Items of the first end last, so that its counter is behind what it is given.
    Late,
    /// Tenants come and go, so that counters are lifted again and again.
    Lifts,
    /// At random.
    Random,
}

/// The most that one of two tenants that always wait gains on the other.
fn attack(attack: Attack, settings: &Settings, seats: u32, largest: Item, draw: &mut Draw) -> i128 {
    let mut server = Server::new(settings, seats);
    for round in 0..2000_u32 {
        for tenant in 0..2 {
            // Both wait throughout.
            while server.dispatcher.waiting_of(&tenant) <= seats {
                let is_large = match attack {
                    Attack::Switch => (round / 40) % 2 == tenant as u32,
                    Attack::Late => tenant == 0,
                    Attack::Lifts | Attack::Random => draw.once_in(2),
                };
                let small = (draw.below(2), 0);
                server.push(tenant, if is_large { largest } else { small });
            }
        }
        if matches!(attack, Attack::Lifts | Attack::Random) {
            // Tenants that come for one item, and two that come back.
            let tenant = if draw.once_in(2) { 2 + draw.below(2) as usize } else { 10 + round as usize };
            server.push(tenant, if draw.once_in(2) { largest } else { (1, 1) });
        }
        server.start();
        let at = match attack {
            // What is large ends last.
            Attack::Late => {
                let small = server.running.iter().position(|(_, item)| *item != largest);
                small.filter(|_| !draw.once_in(6)).unwrap_or(0)
            }
            _ => draw.below(server.running.len().max(1) as u64) as usize,
        };
        server.end(at);
    }
    server.gained
}

#[test]
fn no_list_breaks_the_bound() {
    let mut reached = 0.0_f64;
    for (input_weight, output_weight) in [(1, 2), (1, 1), (3, 1), (0, 1)] {
        let settings = Settings { input_weight, output_weight };
        for seats in [1, 2, 5] {
            for largest in [(1, 100), (50, 50), (100, 1)] {
                for kind in [Attack::Switch, Attack::Late, Attack::Lifts, Attack::Random] {
                    let _replay = Replay(format!("{settings:?}, {seats} seats, {largest:?}, {kind:?}"));
                    let gained = attack(kind, &settings, seats, largest, &mut Draw::new(5));
                    let bound = bound(&settings, seats, largest);
                    assert!(gained <= bound, "{gained}, bound {bound}");
                    reached = reached.max(gained as f64 / bound as f64);
                    if output_weight >= input_weight {
                        let published = bound_of_the_paper(&settings, seats, largest);
                        assert!(gained <= published, "{gained}, in the paper {published}");
                    }
                }
            }
        }
    }
    assert!(reached > 0.9, "{reached}");
}

/// One seat, items of 10 in and 10 out, 3 and 1 for each: 40. The second starts one item alone, for
/// the first has none; then the first starts two in a row, for equal counters start in the order of
/// admission. It gains 80; the paper's bound is 2 max(3 · 10, 20) = 60.
#[test]
fn the_bound_of_the_paper_needs_output_to_weigh_no_less_than_input() {
    let settings = Settings { input_weight: 3, output_weight: 1 };
    let mut server = Server::new(&settings, 1);
    let item = (10, 10);
    server.push(1, item);
    server.push(0, item);
    server.push(0, item);
    server.push(0, item);
    for _ in 0..3 {
        server.push(1, item);
        server.start();
        server.end(0);
    }
    assert_eq!(server.gained, 80);
    assert_eq!(bound_of_the_paper(&settings, 1, item), 60);
    assert_eq!(bound(&settings, 1, item), 81);
}

/// Tenant 1 is ahead by 30. While tenant 0 is charged a guess of 50, it seems to be no more than
/// others; when that turns out to be 1, it still is.
#[test]
fn a_debt_is_remembered_while_a_guess_may_be_given_back() {
    let settings = Settings { input_weight: 0, output_weight: 1 };
    let mut dispatcher = Dispatcher::with_policy(unlimited(2), Box::new(Vtc::new(&settings)));
    let push = |dispatcher: &mut Dispatcher<u32, &'static str>, tenant, guess, item| {
        dispatcher.push(&tenant, Ask { guess, ..Ask::default() }, item).expect("no limit");
    };
    for (guess, item) in [(50, "guessed too high"), (1, "second"), (1, "third")] {
        push(&mut dispatcher, 0, Some(guess), item);
    }
    push(&mut dispatcher, 1, None, "long");
    let started = [dispatcher.start(), dispatcher.start()].map(|started| started.expect("a seat is free"));
    assert_eq!([started[0].item, started[1].item], ["guessed too high", "long"]);
    assert!(dispatcher.complete(started[1].ticket, 30));
    assert!(dispatcher.complete(started[0].ticket, 1));
    push(&mut dispatcher, 1, None, "after the long one");
    let mut order = Vec::new();
    while let Some(started) = dispatcher.start() {
        order.push(started.item);
        assert!(dispatcher.complete(started.ticket, 1));
    }
    assert_eq!(order, ["second", "third", "after the long one"]);
}
