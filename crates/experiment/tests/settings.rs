//! Every field of every part, design, kind of traffic, transport, connection and session is given
//! invalid values and values at the edge of validity. The user reads one line that names the place,
//! or the run ends normally. The fields are those of the schema, so that a new part is covered.

use crate::running::no_file;
use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::scenario;
use fairq_sched::units::Time;
use fairq_sim::multicast::registry::ControlSettings;
use fairq_sim::plan::Plan;
use fairq_sim::run::Simulation;
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::registry::{TRANSPORTS, TransportSettings};
use fairq_sim::transport::tcp::settings::{Connection, Recovery};
use serde_json::{Map, Value, json};

/// The greatest length of a message; a number of hundreds of digits is shown with all of them.
const LONGEST: usize = 1000;

/// The values that a field is given in turn. The large lengths and times are the greatest of their
/// units.
fn values() -> Vec<Value> {
    let numbers = [json!(0), json!(-1), json!(1), json!(255), json!(u32::MAX), json!(u64::MAX), json!(1e-300)];
    let fractions =
        [json!(0.5), json!(2.0), json!(1e300), json!(-1e300), json!(true), json!([]), json!({}), json!([1])];
    let texts = [
        "",
        "NaN",
        "nonsense",
        "3 furlongs",
        "-1 B",
        "0 B",
        "1 B",
        "1 GiB",
        "1152921504606846976 B",
        "99999999999999999999 B",
        "0 s",
        "1 ps",
        "1 s",
        "18446744 s",
        "1e300 s",
        "0 bit/s",
        "1 bit/s",
        "10 Tbit/s",
        "0 packets",
        "1 packet",
        "4294967295 packets",
        "1 kB",
        "unlimited",
    ];
    numbers.into_iter().chain(fractions).chain(texts.map(Value::from)).collect()
}

/// Two flows, one of which floods the line with long and one with short packets, under `queue`.
fn scenario_of(queue: &Value) -> Value {
    let flow = |name: &str, packet: &str, rate: &str, tos: u32| {
        let traffic = json!({"kind": "poisson", "packet": packet, "rate": rate});
        json!({"name": name, "from": "gateway", "to": "sink", "traffic": traffic, "tos": tos, "start": "0 s"})
    };
    json!({
        "edition": 1,
        "measure": {"warm_up": "0 s", "duration": "300 ms"},
        "defaults": {"buffer": "20 packets", "access": {"rate": "100 Mbit/s"}},
        "links": [{"name": "line", "from": "gateway", "to": "sink", "rate": "2 Mbit/s", "queue": queue}],
        "flows": [flow("a", "1000 B", "4 Mbit/s", 4), flow("b", "100 B", "1 Mbit/s", 184)],
    })
}

/// Reads the scenario and runs it if it is valid; otherwise returns the line that the user reads.
fn outcome(queue: &Value) -> Result<(), String> {
    let text = scenario_of(queue).to_string();
    let experiment = Experiment::read(&text, "a.toml", &[]).map_err(|problem| problem.to_string())?;
    let options = Options { workers: 1, files: &no_file, progress: &mut |_| true };
    experiment.run(options).map(|_| ()).map_err(|stopped| format!("a.toml: while it runs: {stopped:?}"))
}

/// `settings` with each of its fields replaced in turn, including those of its tables; `place`
/// names the field.
fn broken(settings: &Value, place: &str, each: &mut dyn FnMut(&str, Value)) {
    match settings {
        Value::Object(table) => {
            for (name, field) in table.iter().filter(|(name, _)| *name != "kind") {
                let place = format!("{place}.{name}");
                broken(field, &place, &mut |place, changed| {
                    let mut table = table.clone();
                    table.insert(name.clone(), changed);
                    each(place, Value::Object(table));
                });
            }
            let mut table = table.clone();
            table.insert("qantum".to_string(), json!(1));
            each(&format!("{place}.qantum"), Value::Object(table));
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                broken(item, &format!("{place}[{at}]"), &mut |place, changed| {
                    let mut items = items.clone();
                    items[at] = changed;
                    each(place, Value::Array(items));
                });
            }
            let many = items.first().map_or(json!(1), Value::clone);
            each(place, Value::Array(vec![many; 2000]));
        }
        _ => {}
    }
    if !place.is_empty() {
        for value in values() {
            each(place, value);
        }
    }
}

/// The settings that `variant` of the schema describes, with all fields.
fn sound(schema: &Value, variant: &Value) -> Value {
    let fields = variant["properties"].as_object().expect("fields").iter();
    let written = fields.filter(|(_, field)| !is_alias(field)).map(|(name, field)| {
        let mut value = usual(schema, field);
        fill(schema, field, &mut value);
        (name.clone(), value)
    });
    Value::Object(written.collect::<Map<_, _>>())
}

/// The default of a field.
fn usual(schema: &Value, field: &Value) -> Value {
    let said = field.get("const").or_else(|| field.get("default")).cloned();
    // An optional field that is left out by default has no default in the schema.
    said.or_else(|| first_word(schema, field)).unwrap_or_else(|| match field["type"].as_str() {
        Some("boolean") => json!(false),
        Some("integer") => json!(0),
        Some("array") if field["items"]["type"] == "integer" => json!([]),
        // Queues in leaves.
        Some("array") if field["items"]["anyOf"].is_array() => json!(["fifo"]),
        // A class, so that its fields are covered.
        Some("array") => json!([{"name": "one"}]),
        _ => Value::Null,
    })
}

/// Whether a field is an alias of another field, which is given too.
fn is_alias(field: &Value) -> bool {
    field["description"].as_str().is_some_and(|text| text.starts_with("Another name of"))
}

/// The first of the words that a field allows, if it allows only words.
fn first_word(schema: &Value, field: &Value) -> Option<Value> {
    let name = field.get("$ref")?.as_str()?.trim_start_matches("#/$defs/");
    schema["$defs"][name]["oneOf"][0].get("const").cloned()
}

/// Fills in the optional tables within `value`.
fn fill(schema: &Value, field: &Value, value: &mut Value) {
    let optional = field["anyOf"].as_array().into_iter().flatten().find_map(|either| either.get("$ref"));
    let name =
        field.get("$ref").or(optional).or(field["items"].get("$ref")).and_then(Value::as_str).unwrap_or_default();
    let Some(fields) = schema["$defs"][name.trim_start_matches("#/$defs/")]["properties"].as_object() else { return };
    for table in value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        for (name, field) in fields {
            let value = table.entry(name.clone()).or_insert_with(|| usual(schema, field));
            fill(schema, field, value);
        }
    }
    // A curve of a class.
    if value.is_null() && optional.is_some() && fields.contains_key("m2") {
        *value = json!({"m1": "1 Mbit/s", "d": "10 ms", "m2": "500 kbit/s"});
    }
}

#[test]
fn no_setting_breaks_a_run_and_what_is_refused_is_said_in_a_line() {
    let schema = scenario::schema();
    let mut counts = Counts::default();
    for (part, scheduler, definition) in [
        ("scheduler", None, "SchedulerSettings"),
        ("buffer", Some("fifo"), "BufferSettings"),
        ("buffer", Some("fq"), "BufferSettings"),
        ("marker", Some("fq"), "MarkerSettings"),
        ("policer", Some("fifo"), "PolicerSettings"),
        ("design", None, "DesignSettings"),
    ] {
        let queue = |settings: &Value| match scheduler {
            // The one policy that drops by the ranks of a scheduler.
            Some(_) if settings["kind"] == "greatest_rank_drop" => json!({"scheduler": "pifo", part: settings}),
            Some(scheduler) => json!({"scheduler": scheduler, part: settings}),
            None => json!({part: settings}),
        };
        for variant in schema["$defs"][definition]["oneOf"].as_array().expect("variants") {
            let whole = sound(&schema, variant);
            assert_eq!(outcome(&queue(&whole)), Ok(()), "{whole}");
            counts.try_all(&whole, "a.toml: links[0].queue", |settings| outcome(&queue(settings)));
        }
    }
    assert!(counts.refused > 5000 && counts.run > 500, "{counts:?}");
}

/// Every kind of traffic with all of its fields, and each of its distributions replaced by each
/// other distribution.
fn traffic() -> Vec<Value> {
    let schema = scenario::schema();
    let mut all = Vec::new();
    for example in TrafficSettings::examples() {
        let whole = serde_json::to_value(&example).expect("a table");
        let is_own = |variant: &&Value| variant["properties"]["kind"]["const"] == example.name();
        let variant = schema["$defs"]["TrafficSettings"]["oneOf"].as_array().expect("kinds").iter().find(is_own);
        for (field, described) in variant.expect("its kind")["properties"].as_object().expect("fields") {
            assert!(
                is_alias(described) || whole.get(field).is_some(),
                "the example of {} has no {field}",
                whole["kind"]
            );
            for other in distributions(described["$ref"].as_str().unwrap_or_default()) {
                let mut changed = whole.clone();
                changed[field] = other;
                all.push(changed);
            }
        }
        all.push(whole);
    }
    all
}

/// Every distribution with all of its fields, if the schema names one.
fn distributions(named: &str) -> Vec<Value> {
    let [mean, low, high] = match named {
        "#/$defs/DistributionOfBytes" => ["5 kB", "100 B", "1 MB"],
        "#/$defs/DistributionOfTime" => ["50 ms", "1 ms", "9 s"],
        _ => return Vec::new(),
    };
    vec![
        json!({"kind": "constant", "value": mean}),
        json!({"kind": "exponential", "mean": mean}),
        json!({"kind": "pareto", "mean": mean, "shape": 1.2, "max": high}),
        json!({"kind": "lognormal", "mean": mean, "sigma": 1.0}),
        json!({"kind": "table", "points": [[low, 0.5], [mean, 1.0]], "interpolated": true}),
    ]
}

/// Some steps of a run of `plan`.
fn take_steps(simulation: &mut Simulation, plan: &Plan) {
    const STEPS: usize = 2000;
    let _ = (0..STEPS).take_while(|_| simulation.step(plan.warm_up + plan.duration)).count();
}

/// Reads the scenario and runs some steps of it if it is valid; otherwise returns the line that the
/// user reads.
fn outcome_of_traffic(traffic: &Value) -> Result<(), String> {
    let mut scenario = scenario_of(&json!("fq + 20 packets"));
    scenario["flows"][0]["traffic"] = traffic.clone();
    scenario["flows"][0]["count"] = json!(3);
    let experiment = Experiment::read(&scenario.to_string(), "a.toml", &[]).map_err(|problem| problem.to_string())?;
    let plan = &experiment.plans()[0].1;
    let table = |_: &str| Ok(b"0,a,100\n0.1,a,100\n".to_vec());
    // A fault of a file is reported with the flow's place too.
    let started = Simulation::new(plan, 1, &table);
    let mut simulation = started.map_err(|(_, fault)| format!("a.toml: flows[0].traffic: {fault}"))?;
    take_steps(&mut simulation, plan);
    Ok(())
}

#[test]
fn no_setting_of_traffic_breaks_a_run_and_what_is_refused_is_said_in_a_line() {
    let mut counts = Counts::default();
    for whole in traffic() {
        // A file that is to be a capture is refused: it is a table.
        let reads_capture = whole["file"].as_str().is_some_and(|file| !file.ends_with(".csv"));
        assert!(outcome_of_traffic(&whole).is_ok() || reads_capture, "{:?}", outcome_of_traffic(&whole));
        counts.try_all(&whole, "a.toml: flows[0].t", outcome_of_traffic);
    }
    assert!(counts.refused > 1000 && counts.run > 100, "{counts:?}");
}

/// Runs some steps of `scenario` if it is valid; otherwise returns the line that the user reads.
fn outcome_of_steps(scenario: &Value) -> Result<(), String> {
    let _trying = Trying(scenario);
    let experiment = Experiment::read(&scenario.to_string(), "a.toml", &[]).map_err(|problem| problem.to_string())?;
    let plan = &experiment.plans()[0].1;
    let mut simulation = Simulation::new(plan, 1, &no_file).map_err(|(_, fault)| fault)?;
    take_steps(&mut simulation, plan);
    Ok(())
}

/// Prints the scenario of a run that broke.
struct Trying<'a>(&'a Value);

impl Drop for Trying<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("broken by {}", self.0);
        }
    }
}

/// How many settings were refused, and how many ran.
#[derive(Debug, Default)]
struct Counts {
    refused: u32,
    run: u32,
}

impl Counts {
    /// Replaces each field of `whole` by each value. Each `outcome` is a run or a line that starts
    /// with `begins`.
    fn try_all(&mut self, whole: &Value, begins: &str, outcome: impl Fn(&Value) -> Result<(), String>) {
        broken(whole, "", &mut |place, settings| {
            let Err(line) = outcome(&settings) else {
                self.run += 1;
                return;
            };
            self.refused += 1;
            let is_a_line = line.starts_with(begins) && !line.contains('\n');
            assert!(is_a_line && line.chars().count() < LONGEST, "{place}: {settings}: {line}");
        });
    }

    /// As [`Self::try_all`], in the scenario that `within` makes and that runs with `whole`.
    fn try_in(&mut self, whole: &Value, begins: &str, within: impl Fn(Value) -> Value) {
        assert_eq!(outcome_of_steps(&within(whole.clone())), Ok(()), "{whole}");
        self.try_all(whole, begins, |settings| outcome_of_steps(&within(settings.clone())));
    }
}

/// A file transfer with `field` beside a flood.
fn transfer_with(field: &str, settings: Value) -> Value {
    let mut scenario = scenario_of(&json!("fq + 20 packets"));
    scenario["flows"][0]["traffic"] = json!("ftp(packets=10000)");
    scenario["flows"][0]["transport"] = json!("cubic");
    scenario["flows"][0][field] = settings;
    scenario
}

#[test]
fn no_setting_of_a_transport_or_a_connection_breaks_a_run_and_what_is_refused_is_said_in_a_line() {
    let schema = scenario::schema();
    let mut counts = Counts::default();
    let mut names = Vec::new();
    for variant in schema["$defs"]["TransportSettings"]["oneOf"].as_array().expect("variants") {
        let mut whole = sound(&schema, variant);
        names.push(whole["kind"].as_str().expect("a name").to_string());
        if whole["kind"] == "fixed_rate" {
            whole["rate"] = json!("1 Mbit/s");
        }
        counts.try_in(&whole, "a.toml: flows[0].transport", |settings| transfer_with("transport", settings));
    }
    assert_eq!(names, TRANSPORTS.iter().map(|card| card.name).collect::<Vec<_>>(), "every one is tried");
    let whole = serde_json::to_value(Connection {
        recovery: Some(Recovery::Rack),
        processing: Some(Time::from_ms(1)),
        ..Connection::default()
    });
    let whole = whole.expect("a table");
    counts.try_in(&whole, "a.toml: flows[0].connection", |settings| transfer_with("connection", settings));
    assert!(counts.refused > 3000 && counts.run > 300, "{counts:?}");
}

/// Every number of every transport at extreme values, and every factor of a window, a rate or a
/// bound at 0 and 1: the accepted ones are listed.
#[test]
fn a_number_without_sense_is_refused_whatever_law_it_is_of() {
    // Factors and parts, by the name of the field.
    let parts = ["decrease", "mark_decrease", "drain_gain", "down_gain", "headroom"];
    let schema = scenario::schema();
    let (mut taken, mut seen) = (Vec::new(), 0);
    for variant in schema["$defs"]["TransportSettings"]["oneOf"].as_array().expect("variants") {
        let law = variant["properties"]["kind"]["const"].as_str().expect("a name");
        for (field, described) in variant["properties"].as_object().expect("fields") {
            if described["type"] != "number" || is_alias(described) {
                continue;
            }
            let is_part = parts.contains(&field.as_str()) || ["rap", "bbr3"].contains(&law) && field == "beta";
            let edges: &[f64] = if is_part { &[0.0, 1.0, 1.0 + 1e-9] } else { &[0.0] };
            for value in [-1e300, -1.0, -1e-6, 1e300].iter().chain(edges) {
                let settings = json!({"kind": law, field: value});
                let settings: TransportSettings = serde_json::from_value(settings).expect("a number");
                seen += 1;
                if settings.fault().is_none() {
                    taken.push(format!("{law}.{field} {value}"));
                }
            }
        }
    }
    // No variation in a timeout, all packets used or not, a pace as fast as what is measured, an
    // average of marks that begins at zero (Linux's dctcp_alpha_on_init), no growth but the
    // function's.
    let sound = [
        "rap.timeout_variations 0",
        "rap.used_share 0",
        "bbr.pacing_margin 0",
        "bbr3.pacing_margin 0",
        "cubic.first_increase 0",
        "dctcp.first_alpha 0",
    ];
    assert_eq!(taken, sound);
    assert!(seen > 300, "{seen}");
}

/// A timer of length zero expires again and again in one instant, and the run never ends.
#[test]
fn no_setting_of_a_transport_or_a_connection_makes_time_stand_still() {
    let moves = |field: &str, settings: Value| {
        let scenario = transfer_with(field, settings.clone());
        let Ok(experiment) = Experiment::read(&scenario.to_string(), "a.toml", &[]) else { return };
        let simulation = Simulation::new(&experiment.plans()[0].1, 1, &no_file);
        let mut simulation = simulation.unwrap_or_else(|(_, fault)| panic!("{fault}: {settings}"));
        // A packet takes 80 us to the gateway.
        let steps = (0..100_000).take_while(|_| simulation.step(Time::from_ms(1))).count();
        assert!(steps < 100_000, "time stands still with {settings}");
    };
    let schema = scenario::schema();
    for variant in schema["$defs"]["TransportSettings"]["oneOf"].as_array().expect("variants") {
        let mut whole = sound(&schema, variant);
        if whole["kind"] == "fixed_rate" {
            whole["rate"] = json!("1 Mbit/s");
        }
        // Fields that are left out by default.
        if let Some(timeout) = whole.get_mut("timeout").and_then(Value::as_object_mut) {
            timeout.insert("ceiling".to_string(), json!("60 s"));
        }
        broken(&whole, "", &mut |_, settings| moves("transport", settings));
    }
    let connection = Connection { recovery: Some(Recovery::Rack), ..Connection::default() };
    let whole = serde_json::to_value(connection).expect("a table");
    broken(&whole, "", &mut |_, settings| moves("connection", settings));
}

#[test]
fn no_setting_of_a_session_breaks_a_run_and_what_is_refused_is_said_in_a_line() {
    let schema = scenario::schema();
    let mut counts = Counts::default();
    for variant in schema["$defs"]["ControlSettings"]["oneOf"].as_array().expect("variants") {
        let control = sound(&schema, variant);
        let typed: ControlSettings = serde_json::from_value(control.clone()).expect("a receiver");
        let sources = schema["$defs"]["SessionSource"]["oneOf"].as_array().expect("sources").iter();
        let fits = |source: &Value| typed.fault(&serde_json::from_value(source.clone()).expect("a source")).is_none();
        let source = sources.map(|variant| sound(&schema, variant)).find(fits).expect("a source that it takes");
        let layers = json!({"count": 5, "rate": "100 kbit/s", "factor": 2.0});
        let receiver = json!({"at": "sink", "name": "a", "control": control, "start": "1 ms", "leave_latency": "1 ms",
                              "target": 2});
        let whole = json!({"name": "s", "from": "gateway", "layers": layers, "packet": "100 B", "source": source,
                           "start": "0 s", "control": control, "leave_latency": "1 ms", "tos": 4,
                           "receivers": [receiver]});
        counts.try_in(&whole, "a.toml: sessions", |session| {
            let mut scenario = scenario_of(&json!("fq + 20 packets"));
            scenario["sessions"] = json!([session]);
            scenario
        });
    }
    assert!(counts.refused > 1000 && counts.run > 300, "{counts:?}");
}
