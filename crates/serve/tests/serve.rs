//! A server of seats by hand-computed examples; the max-min share, the gaps and the likeness of
//! random requests beside slow ways to them; logs that are wrong.

use fairq_sched::work::registry::{POLICIES, PolicySettings};
use fairq_serve::log::{Columns, read};
use fairq_serve::{
    Document, Failure, Known, NS_PER_S, Options, Requests, Served, Server, likeness, measure, run, simulate, work,
};
use serde_json::{Value, json};

const LOG: &str = "time,tenant,cost\n0,greedy,4\n0,greedy,4\n0,greedy,4\n1,small,1\n2,small,1\n";

fn columns(seats: u32) -> Columns {
    Columns { speed: 1.0, seats, done: None }
}

fn requests(text: &str, seats: u32) -> Requests {
    read("log.csv", text, &columns(seats)).expect("a log").0
}

fn served(requests: &Requests, seats: u32, policy: &str) -> Served {
    let server = Server { seats, known: Known::Yes, guess: 1, seed: 1 };
    let policy = PolicySettings::by_name(policy).expect("a policy").build();
    simulate(requests, &server, policy, &mut |_| true).expect("none said stop").0
}

fn document(options: &Value, text: &str) -> Result<Document, Failure> {
    let options = Options::read(&options.to_string()).map_err(Failure::Asked)?;
    let ends = |values: &[f64]| {
        Some([values.iter().copied().fold(f64::MAX, f64::min), values.iter().copied().fold(0.0, f64::max)])
    };
    run(&options, &|_| Ok(text.to_owned()), ends, &mut |_| true)
}

/// The seconds at which requests start, in the order of the log.
fn starts(served: &Served) -> Vec<f64> {
    let mut starts = vec![0.0; served.starts.len()];
    for (time, request) in &served.starts {
        starts[*request as usize] = *time as f64 / NS_PER_S as f64;
    }
    starts
}

#[test]
fn one_seat_serves_in_the_order_of_its_policy() {
    let requests = requests(LOG, 1);
    assert_eq!(starts(&served(&requests, 1, "fcfs")), [0.0, 4.0, 8.0, 12.0, 13.0]);
    // The greedy one is in the round since 0 s: it has its turn at 4 s, and then they alternate.
    assert_eq!(starts(&served(&requests, 1, "round_robin")), [0.0, 4.0, 9.0, 8.0, 13.0]);
}

#[test]
fn what_tenants_wait_and_get_is_as_computed_by_hand() {
    let requests = requests(LOG, 1);
    let measured = measure(&requests, &served(&requests, 1, "fcfs"), 1, &work);
    let [greedy, small] = &measured.tenants[..] else { panic!("two tenants") };
    assert_eq!((greedy.requests, greedy.service_s, small.requests, small.service_s), (3, 12.0, 2, 2.0));
    assert_eq!(small.waits, [11 * NS_PER_S, 11 * NS_PER_S]);
    assert_eq!((greedy.waiting_s_mean(), small.waiting_s_mean()), (Some(4.0), Some(11.0)));
    assert_eq!((greedy.waiting_s_quantile(0.5), greedy.waiting_s_quantile(0.99)), (Some(4.0), Some(8.0)));
    // (1 + 2 + 3)/3 and 12.
    assert_eq!((greedy.slowdown_mean, small.slowdown_mean), (Some(2.0), Some(12.0)));
    // The small one waits from 1 s to 13 s and gets one second of these; a half would be its share
    // until 12 s, when the greedy one has none left, and the whole seat from there on.
    assert_eq!(small.share, Some(1.0 / 12.0));
    assert!((small.max_min_share.unwrap() - 6.5 / 12.0).abs() < 1e-12, "{small:?}");
    // The greedy one waits until 8 s and gets all; 1 + 7/2 would be its share.
    assert_eq!(greedy.share, Some(1.0));
    assert!((greedy.max_min_share.unwrap() - 4.5 / 8.0).abs() < 1e-12, "{greedy:?}");
    // From 1 s, when both wait, the greedy one starts eight seconds of work; the small one none.
    assert_eq!(small.gap, Some((8.0, 0)));
    let worst = small.worst.unwrap();
    assert_eq!((worst.from_s, worst.to_s), (1.0, 12.0));
    assert!((worst.missing_s - 5.5).abs() < 1e-12, "{worst:?}");
    assert_eq!((measured.duration_s, measured.busy, measured.seats_needed), (14.0, 1.0, 1));
}

#[test]
fn every_policy_serves_all_work_and_leaves_no_seat_free_that_is_wanted() {
    let asked = json!({"seats": 3, "tenants": "a:rate=4/s,cost=exponential(mean=300ms);b:rate=1/s,cost=lognormal(mean=1s,sd=2s),weight=2;\
        c:rate=2/s,cost=200ms,arrivals=regular,from=10s,until=30s", "policies": POLICIES.iter().map(|card| card.name).collect::<Vec<_>>(),
        "duration": "60 s", "seeds": 3});
    let found = document(&asked, "").expect("an answer");
    let service =
        |policy: &str| found.rows.iter().filter(|row| row.policy == policy).map(|row| row.service_s).sum::<f64>();
    let first = &found.policies[0];
    for policy in &found.policies {
        assert!((service(&policy.policy) - service(&first.policy)).abs() < 1e-6, "{policy:?}");
        assert!(policy.bound_reached.is_none_or(|part| part <= 1.0), "{policy:?}");
        let waits: f64 =
            found.rows.iter().filter(|row| row.policy == policy.policy).filter_map(|row| row.waiting_s_mean).sum();
        assert!(waits > 0.0, "{policy:?}");
    }
    // The same for any number of threads.
    let mut more = asked.clone();
    more["workers"] = 4.into();
    assert_eq!(document(&more, "").expect("an answer"), found);
}

#[test]
fn first_come_first_served_is_the_recursion_of_its_seats() {
    let asked = json!({"seats": 3, "tenants": "a:rate=4/s,cost=exponential(mean=500ms);b:rate=1/s,cost=lognormal(mean=1s,sd=2s)",
        "policies": ["fcfs"]});
    let fairq_serve::From::Drawn(drawn) = Options::read(&asked.to_string()).unwrap().from().unwrap() else {
        panic!("drawn")
    };
    for seed in 1..20 {
        let requests = drawn.requests(fairq_sched::units::Time::from_s(60), seed);
        // Each request takes the seat that is free first.
        let mut free = [0_u64; 3];
        let starts: Vec<u64> = requests
            .all
            .iter()
            .map(|request| {
                free.sort_unstable();
                let start = request.at.max(free[0]);
                free[0] = start + request.cost;
                start
            })
            .collect();
        let mut found = vec![0; starts.len()];
        for (time, request) in served(&requests, 3, "fcfs").starts {
            found[request as usize] = time;
        }
        assert_eq!(found, starts, "seed {seed}");
    }
}

#[test]
fn no_tenant_falls_behind_another_by_more_than_the_bound_of_the_policy() {
    let texts =
        ["sfq_d", "sfq_d(depth=2)", "wfq", "drr", "drr(quantum=100ms)", "vtc", "vtc(input_weight=3, output_weight=1)"];
    let tenants = "a:rate=6/s,cost=exponential(mean=500ms),size=exponential(mean=200ms);\
        b:rate=2/s,cost=pareto(mean=300ms,shape=1.5,max=20s),weight=2;c:rate=1/s,cost=1s,arrivals=regular,weight=0.5";
    let mut reached = 0.0_f64;
    for known in ["no", "yes", "error=30%"] {
        let asked = json!({"seats": 4, "tenants": tenants, "policies": texts, "duration": "100 s", "seeds": 6, "cost_known": known});
        for policy in document(&asked, "").expect("an answer").policies {
            let part = policy.bound_reached.unwrap_or_else(|| panic!("{known}: a bound of {policy:?}"));
            assert!(part <= 1.0, "{known}: {policy:?}");
            reached = reached.max(part);
        }
    }
    // The bound is not an idle one.
    assert!(reached > 0.3, "{reached}");
}

#[test]
fn requests_without_cost_wait_for_a_seat_and_take_it_for_no_time() {
    let requests = requests("time,tenant,cost\n0,a,0\n0,a,2\n0,b,0\n0,b,1\n1,a,0\n", 1);
    let served = served(&requests, 1, "fcfs");
    assert_eq!(starts(&served), [0.0, 0.0, 2.0, 2.0, 3.0]);
    let measured = measure(&requests, &served, 1, &work);
    assert_eq!((measured.seats_needed, measured.busy), (1, 1.0));
    // Of those that cost something: 1 and 3.
    assert_eq!(measured.tenants.iter().map(|tenant| tenant.slowdown_mean).collect::<Vec<_>>(), [Some(1.0), Some(3.0)]);
}

#[test]
fn known_costs_are_told_and_weights_count() {
    // Both flood one seat with equal costs; the second has three times the weight.
    let rows: String = (0..40).map(|_| "0,a,1\n0,b,1\n").collect();
    let asked =
        json!({"log": "log.csv", "seats": 1, "policies": ["sfq_d"], "weights": {"b": 3.0}, "cost_known": "yes"});
    let found = document(&asked, &format!("time,tenant,cost\n{rows}")).expect("an answer");
    let [a, b] = &found.rows[..] else { panic!("two rows") };
    // b has three of four turns until its forty are started.
    assert!((b.share.unwrap() - 0.75).abs() < 0.02 && (b.max_min_share.unwrap() - 0.75).abs() < 0.02, "{b:?}");
    assert!(a.waiting_s_mean > b.waiting_s_mean && a.gap_s.unwrap() <= a.bound_s.unwrap(), "{a:?}");
    assert_eq!(found.tenants[1].weight, 3.0);
}

#[test]
fn a_log_with_ends_looks_like_the_policy_that_made_it() {
    let asked = json!({"seats": 2, "tenants": "a:rate=3/s,cost=exponential(mean=1s);b:rate=1/s,cost=exponential(mean=400ms)",
        "policies": ["fcfs"], "duration": "120 s", "seeds": 1});
    let fairq_serve::From::Drawn(drawn) = Options::read(&asked.to_string()).unwrap().from().unwrap() else {
        panic!("drawn")
    };
    let requests = drawn.requests(fairq_sched::units::Time::from_s(120), 1);
    for (own, other) in [("fcfs", "sfq_d"), ("sfq_d", "fcfs"), ("round_robin", "fcfs")] {
        let log = served(&requests, 2, own);
        let mut text = String::from("time,tenant,cost,end_time\n");
        let mut ends = vec![0; requests.all.len()];
        for (time, request) in &log.ends {
            ends[*request as usize] = *time;
        }
        for (request, end) in requests.all.iter().zip(&ends) {
            let seconds = |ns: u64| format!("{}.{:09}", ns / NS_PER_S, ns % NS_PER_S);
            let name = &requests.tenants[request.tenant as usize].name;
            text += &format!("{},{name},{},{}\n", seconds(request.at), seconds(request.cost), seconds(*end));
        }
        let asked =
            json!({"log": "log.csv", "seats": 2, "policies": [other, own], "done": "end_time", "cost_known": "yes"});
        let found = document(&asked, &text).expect("an answer");
        assert_eq!(found.answer.looks_like.as_deref(), Some(own), "{:?}", found.likeness);
        assert_eq!(found.likeness[0].agreement, Some(1.0));
        // The rows of the log are those of the policy that made it.
        let of = |policy: &str| {
            found
                .rows
                .iter()
                .filter(|row| row.policy == policy)
                .map(|row| (row.waiting_s_mean, row.share))
                .collect::<Vec<_>>()
        };
        assert_eq!(of("log"), of(own));
        assert_eq!(likeness(&requests, &log, &log).0, Some(1.0));
    }
}

#[test]
fn json_lines_and_other_separators_say_the_same() {
    let csv = requests(LOG, 1);
    let lines: String = LOG
        .lines()
        .skip(1)
        .map(|line| {
            let [time, tenant, cost] = line.split(',').collect::<Vec<_>>()[..] else { panic!("{line}") };
            format!("{{\"tenant\": \"{tenant}\", \"time\": {time}, \"cost\": \"{cost}\", \"more\": [1]}}\n")
        })
        .collect();
    assert_eq!(requests(&lines, 1), csv);
    assert_eq!(requests(&LOG.replace(',', ";"), 1), csv);
    assert_eq!(requests(&LOG.replace("time,tenant,cost\n", ""), 1), csv);
    assert_eq!(requests("cost;tenant;time\n0,5;\"a;b\";2026-01-01T00:00:01.5Z\n", 1).all[0].cost, NS_PER_S / 2);
    // Times count from the first.
    let shifted = requests("time,tenant,cost\n1700000000.25,a,1\n1700000001.5,a,1\n", 1);
    assert_eq!(shifted.all.iter().map(|request| request.at).collect::<Vec<_>>(), [0, 1_250_000_000]);
    // Units of cost by the speed of a seat.
    let tokens =
        read("log.csv", "time,tenant,cost,size\n0,a,500,100\n", &Columns { speed: 1000.0, ..columns(1) }).unwrap().0;
    assert_eq!((tokens.all[0].cost, tokens.all[0].size), (NS_PER_S / 2, NS_PER_S / 10));
}

#[test]
fn a_log_with_starts_and_ends_needs_no_cost() {
    let with_done = Columns { done: Some("end".to_owned()), ..columns(2) };
    let text = "time,tenant,start,end\n10,a,10.5,12\n11,b,11,11.25\n";
    let (requests, served) = read("log.csv", text, &with_done).expect("a log");
    assert_eq!(requests.all.iter().map(|request| request.cost).collect::<Vec<_>>(), [1_500_000_000, 250_000_000]);
    let served = served.expect("with ends");
    assert_eq!(served.starts, [(500_000_000, 0), (1_000_000_000, 1)]);
    assert_eq!(served.ends, [(1_250_000_000, 1), (2_000_000_000, 0)]);
    let wrong = read("log.csv", "time,tenant,start,end\n10,a,11,10.5\n", &with_done).map(|_| ());
    let said =
        "log.csv: row 2, column end: `10.5` is before the start of the request; write it in seconds, as the time";
    assert_eq!(wrong, Err(said.to_owned()));
}

#[test]
fn a_wrong_row_is_named_with_its_column() {
    let with_done = Columns { done: Some("end".to_owned()), ..columns(4) };
    for (text, said) in [
        ("time,tenant,cost\n0,a,-1\n", "log.csv: row 2, column cost: `-1` is negative; write 0 or more"),
        (
            "time,tenant,cost\n0,a,1\n1,a\n",
            "log.csv: row 3, column cost: is missing: the row is cut short; write what the request costs, like 1.5",
        ),
        (
            "time,tenant,cost\n2,a,1\n1,b,1\n",
            "log.csv: row 3, column time: `1` is before `2`, the time of the row above; sort the log by time",
        ),
        (
            "time,tenant,cost\n0,a,x\n",
            "log.csv: row 2, column cost: `x` is no number; write what the request costs, like 1.5",
        ),
        (
            "time,tenant,cost\n0,a,NaN\n",
            "log.csv: row 2, column cost: `NaN` is no number; write what the request costs, like 1.5",
        ),
        ("time,tenant,cost\n0,,1\n", "log.csv: row 2, column tenant: is empty; write the name of the tenant"),
        (
            "time,tenant\n0,a\n",
            "log.csv: row 1, column cost: is missing; there are time, tenant, needed are time, tenant and cost",
        ),
        ("time,tenant,cost\n0,a,1,9\n", "log.csv: row 2, column 4: is one too many; a row has 3 at most"),
        (
            "time,tenant,cost\n1700000000000,a,1\n",
            "log.csv: row 2, column time: `1700000000000` is no time in seconds; divide milliseconds by 1000",
        ),
        (
            "time,tenant,cost,seats\n0,a,1,9\n",
            "log.csv: row 2, column seats: `9` is no whole number from 1 to 4, the seats of the server",
        ),
        ("time,tenant,cost\n", "log.csv: has no request; write rows of time,tenant,cost, like 0.25,a,1.5"),
        ("", "log.csv: has no request; write rows of time,tenant,cost, like 0.25,a,1.5"),
        (
            "{\"time\": 0, \"tenant\": \"a\"}\n",
            "log.csv: row 1, column cost: is missing; write what the request costs, like 1.5",
        ),
    ] {
        assert_eq!(read("log.csv", text, &columns(4)).map(|_| ()), Err(said.to_owned()), "{text}");
    }
    for (text, said) in [
        (
            "time,tenant,cost,end\n5,a,1,4\n",
            "log.csv: row 2, column end: `4` is before the time of the request; write it in seconds, as the time",
        ),
        ("time,tenant,cost\n5,a,1\n", "log.csv: row 1, column end: is missing; there are time, tenant, cost"),
        (
            "time,tenant,cost,end\n5,a,1\n",
            "log.csv: row 2, column end: is missing: the row is cut short; write a time in seconds, like 0.25",
        ),
    ] {
        assert_eq!(read("log.csv", text, &with_done).map(|_| ()), Err(said.to_owned()), "{text}");
    }
    let cut =
        read("log.csv", "{\"time\": 0, \"tenant\": \"a\", \"cost\": 1}\n{\"time\": 1, \"ten", &columns(4)).map(|_| ());
    assert!(cut.unwrap_err().starts_with("log.csv: row 2, column 16: is no JSON: the row is cut short"));
}

#[test]
fn what_is_asked_wrongly_is_told_with_the_remedy() {
    let usual =
        json!({"tenants": "a:rate=1/s,cost=1s", "seats": 2, "policies": ["fcfs"], "duration": "10 s", "seeds": 1});
    for (field, value, said) in [
        ("seats", json!(0), "seats: is 0; a server has 1 seat at least"),
        ("policies", json!(["fcsf"]), "policy: `fcsf` is no policy; did you mean fcfs?"),
        ("policies", json!(["fcfs(depth=2)"]), "policy: depth: fcfs has no settings"),
        ("policies", json!(["fcfs", "fcfs"]), "policy: `fcfs` is given twice; name each policy once"),
        ("policies", json!([]), "policy: names none; write for example fcfs,sfq_d"),
        ("weights", json!({"b": 2.0}), "weights: `b` is no tenant of these requests"),
        (
            "weights",
            json!({"a": -1.0}),
            "weights: a: `-1`: a weight is a number from 0.001 to 1000000, in whole thousandths",
        ),
        ("cost_known", json!("maybe"), "cost_known: `maybe` is not known here; write no, yes or error=30%"),
        ("tenants", json!("a:cost=1s"), "tenants.a: rate is missing"),
        ("tenants", json!("a:rate=5,cost=1s"), "tenants.a.rate: `5` is no rate; write for example 5/s, 300/min or 2/h"),
        ("tenants", json!("a:rate=1/s,cost=normal(mean=1s)"), "tenants.a.cost: "),
        (
            "tenants",
            json!("a:rate=1/s,cost=-1"),
            "tenants.a.cost: `-1` is no cost; write a time, like 2s, or a number of units",
        ),
        (
            "tenants",
            json!("a:rate=1/s,cost=lognormal(mean=1s)"),
            "tenants.a.cost: lognormal: sd is missing; write lognormal(mean=2s,sd=3s)",
        ),
        ("duration", json!("0 s"), "duration: is 0; write how long requests arrive, as 10min"),
        ("tenants", json!("a"), "tenants: `a`: write NAME:rate=5/s,cost=2s, and ; between tenants"),
        ("log", json!("x.csv"), "tenants: goes without a log; give one of them"),
        ("done", json!("end"), "done: is of a log; random requests have no ends of their own"),
    ] {
        let mut asked = usual.clone();
        asked[field] = value.clone();
        let fault = match document(&asked, "") {
            Err(Failure::Asked(fault)) => format!("{}: {}", fault.path, fault.message),
            other => panic!("{field} {value}: {other:?}"),
        };
        assert!(fault.starts_with(said), "{field} {value}: {fault}");
    }
    assert!(document(&usual, "").is_ok());
}
