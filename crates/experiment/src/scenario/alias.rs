//! Common names of settings that have another name here: `beta`, `C`, `ssthresh`, `min_rto`, `mss`.
//!
//! They are resolved in the tree before the types are read, so that a result's scenario has one
//! name for each setting.

use fairq_sched::units::{Bytes, UnitError};
use fairq_text::Fault;
use serde_json::{Map, Value};

/// How the value of an alias becomes that of the setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Means {
    /// The same value.
    Same,
    /// One minus the value: the setting is what a loss takes, the alias what is left.
    Rest,
    /// The same value, in the table of this name.
    In(&'static str),
    /// The value plus the headers of IP and TCP.
    AndHeaders,
}

/// A name for a setting of some kinds of transports or traffic.
struct Alias {
    name: &'static str,
    kinds: &'static [&'static str],
    field: &'static str,
    means: Means,
}

const TRANSPORTS: [Alias; 6] = [
    Alias {
        name: "beta",
        kinds: &["cubic", "dctcp", "decbit", "fast", "ledbat", "newreno", "prague", "reno"],
        field: "decrease",
        means: Means::Same,
    },
    Alias { name: "beta", kinds: &["scalable"], field: "decrease", means: Means::Rest },
    Alias { name: "C", kinds: &["cubic"], field: "scale", means: Means::Same },
    Alias { name: "c", kinds: &["cubic"], field: "scale", means: Means::Same },
    Alias {
        name: "ssthresh",
        kinds: &["cubic", "hstcp", "htcp", "hybla", "newreno", "reno", "scalable", "tahoe", "westwood_plus"],
        field: "first_threshold",
        means: Means::Same,
    },
    Alias { name: "min_rto", kinds: &["decbit", "fixed_window", "jk"], field: "floor", means: Means::In("timeout") },
];

const CONNECTION: Alias = Alias { name: "min_rto", kinds: &[], field: "floor", means: Means::In("timeout") };
const TIMEOUT: Alias = Alias { name: "min_rto", kinds: &[], field: "floor", means: Means::Same };

const TRAFFIC: Alias = Alias {
    name: "mss",
    kinds: &["flow_arrivals", "ftp", "incast", "request_response", "telnet", "web"],
    field: "packet",
    means: Means::AndHeaders,
};

/// Bytes of the headers of IPv4 and TCP, and of these with time stamps (RFC 7323: 10 bytes, padded
/// to 12).
const HEADERS: [u64; 2] = [40, 52];

/// Replaces every alias by the setting's own name.
///
/// # Errors
/// A setting that is given under both names, or an `mss` that is no size.
pub fn resolve(scenario: &mut Value) -> Result<(), Fault> {
    let defaults = scenario.get("defaults").cloned().unwrap_or_default();
    let edition = scenario.get("edition").and_then(Value::as_u64);
    if let Some(defaults) = scenario.get_mut("defaults") {
        resolve_ends(defaults, "defaults")?;
    }
    let flows = scenario.get_mut("flows").and_then(Value::as_array_mut);
    for (at, flow) in flows.into_iter().flatten().enumerate() {
        let path = format!("flows[{at}]");
        let headers = headers(flow, &defaults, edition);
        resolve_ends(flow, &path)?;
        if let Some(Value::Object(traffic)) = flow.get_mut("traffic") {
            TRAFFIC.resolve(traffic, &format!("{path}.traffic"), headers)?;
        }
    }
    Ok(())
}

/// Resolves the transport and the connection in `table`, a flow or the defaults.
fn resolve_ends(table: &mut Value, path: &str) -> Result<(), Fault> {
    for (part, of_part) in [("transport", &TRANSPORTS[..]), ("connection", &[CONNECTION][..])] {
        let Some(Value::Object(settings)) = table.get_mut(part) else { continue };
        let path = format!("{path}.{part}");
        for alias in of_part {
            alias.resolve(settings, &path, 0)?;
        }
        if let Some(Value::Object(timeout)) = settings.get_mut("timeout") {
            TIMEOUT.resolve(timeout, &format!("{path}.timeout"), 0)?;
        }
    }
    Ok(())
}

/// Bytes of the headers of a segment of `flow`: with time stamps, unless its connection has none or
/// its transport no connection.
fn headers(flow: &Value, defaults: &Value, edition: Option<u64>) -> u64 {
    let said = |part: &str| flow.get(part).or_else(|| defaults.get(part)).filter(|part| !part.is_null());
    let has_connection = match said("transport").map(kind) {
        Some(transport) => !["decbit", "fixed_window", "generic", "jk"].contains(&transport),
        // The default transport of the first edition.
        None => !(edition == Some(1) && flow.get("traffic").is_some_and(|t| ["ftp", "telnet"].contains(&kind(t)))),
    };
    let timestamps = said("connection").and_then(|connection| connection.get("timestamps")?.as_bool()).unwrap_or(true);
    HEADERS[usize::from(has_connection && timestamps)]
}

fn kind(part: &Value) -> &str {
    part.get("kind").and_then(Value::as_str).unwrap_or_default()
}

impl Alias {
    /// Whether the alias applies to settings of `kind`.
    fn is_of(&self, kind: &str) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Replaces this alias in `table` by the setting's own name.
    fn resolve(&self, table: &mut Map<String, Value>, path: &str, headers: u64) -> Result<(), Fault> {
        let kind = table.get("kind").and_then(Value::as_str).unwrap_or_default();
        if !table.contains_key(self.name) || !self.is_of(kind) {
            return Ok(());
        }
        let path = format!("{path}.{}", self.name);
        let value = table.shift_remove(self.name).unwrap_or_default();
        let (value, holder) = match self.means {
            Means::Same => (value, table),
            Means::Rest => (value.as_f64().map_or(value, |kept| Value::from(1.0 - kept)), table),
            Means::AndHeaders => (with_headers(&value, headers).map_err(|fault| Fault::new(&path, fault))?, table),
            Means::In(inner) => match table.entry(inner).or_insert_with(|| Value::Object(Map::new())) {
                Value::Object(inner) => (value, inner),
                // The types refuse a value that is no table.
                _ => return Ok(()),
            },
        };
        if holder.insert(self.field.into(), value).is_some() {
            let message = format!("{} is another name of {}, which is given too; leave one out", self.name, self.field);
            return Err(Fault::new(path, message));
        }
        Ok(())
    }

    /// The schema of the alias, derived from `of`, the schema of the setting.
    fn described(&self, of: &Value) -> Value {
        let mut schema = of.clone();
        let table = if let Means::In(table) = self.means { format!("{table}.") } else { String::new() };
        let means = match self.means {
            Means::Same | Means::In(_) => format!("Another name of `{table}{}`.", self.field),
            Means::Rest => format!("Another name of 1 less `{}`: the part that is left.", self.field),
            Means::AndHeaders => format!(
                "Another name of `{}` less the headers: {} bytes of a connection with time stamps, else {}.",
                self.field, HEADERS[1], HEADERS[0]
            ),
        };
        schema["description"] = means.into();
        if let Some(schema) = schema.as_object_mut() {
            schema.shift_remove("default");
        }
        schema
    }
}

/// The size in `value` plus the headers.
fn with_headers(value: &Value, headers: u64) -> Result<Value, String> {
    let Some(text) = value.as_str() else {
        let like = value.as_u64().unwrap_or(1448);
        return Err(format!("write a size as text with a unit, like \"{like} B\", not `{value}`"));
    };
    let size: Bytes = text.parse().map_err(|error: UnitError| error.to_string())?;
    Ok(Bytes(size.0 + headers).to_string().into())
}

/// Adds the aliases to the schema of a scenario, each beside its setting.
pub(super) fn describe(schema: &mut Value) {
    let floor = schema["$defs"]["Timeout"]["properties"]["floor"].clone();
    for (definition, aliases) in [("TransportSettings", &TRANSPORTS[..]), ("TrafficSettings", &[TRAFFIC][..])] {
        for variant in schema["$defs"][definition]["oneOf"].as_array_mut().into_iter().flatten() {
            let kind = variant["properties"]["kind"]["const"].as_str().unwrap_or_default().to_string();
            for alias in aliases.iter().filter(|alias| alias.is_of(&kind)) {
                let of = if alias.means == Means::In("timeout") { &floor } else { &variant["properties"][alias.field] };
                variant["properties"][alias.name] = alias.described(of);
            }
        }
    }
    schema["$defs"]["Connection"]["properties"][CONNECTION.name] = CONNECTION.described(&floor);
    schema["$defs"]["Timeout"]["properties"][TIMEOUT.name] = TIMEOUT.described(&floor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::expand::expand;
    use serde_json::json;

    fn resolved(mut scenario: Value) -> Result<Value, Fault> {
        expand(&mut scenario, &fairq_text::Words::default())?;
        resolve(&mut scenario)?;
        Ok(scenario)
    }

    /// The packet of a flow with `fields` whose traffic is of this `mss`.
    fn packet(traffic: &str, fields: Value, defaults: Value, edition: u64) -> Value {
        let mut flow = json!({ "traffic": format!("{traffic}(mss=1448B)") });
        flow.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        let scenario = json!({ "edition": edition, "defaults": defaults, "flows": [flow] });
        resolved(scenario).unwrap()["flows"][0]["traffic"]["packet"].clone()
    }

    #[test]
    fn each_name_becomes_the_setting_it_stands_for() {
        let transport = |text: &str| resolved(json!({ "flows": [{ "transport": text }] })).unwrap()["flows"][0].clone();
        assert_eq!(transport("cubic(beta=0.8, C=0.3)"), transport("cubic(decrease=0.8, scale=0.3)"));
        assert_eq!(transport("cubic(c=0.3)"), transport("cubic(scale=0.3)"));
        assert_eq!(transport("scalable(beta=0.75)"), transport("scalable(decrease=0.25)"));
        assert_eq!(transport("reno(ssthresh=20)"), transport("reno(first_threshold=20)"));
        assert_eq!(transport("jk(min_rto=1s)"), transport("jk(timeout=(floor=1s))"));
        // Where the alias is the name of a setting it stays one.
        assert_eq!(transport("vegas(beta=3)")["transport"], json!({ "beta": 3, "kind": "vegas" }));
        let expected = json!({ "defaults": { "connection": { "timeout": { "first": "2 s", "floor": "200 ms" } } } });
        for connection in [
            json!({ "timeout": { "first": "2 s" }, "min_rto": "200 ms" }),
            json!({ "timeout": { "first": "2 s", "min_rto": "200 ms" } }),
        ] {
            assert_eq!(resolved(json!({ "defaults": { "connection": connection } })).unwrap(), expected);
        }
    }

    #[test]
    fn a_segment_is_a_packet_with_its_headers() {
        let none = || json!({});
        assert_eq!(packet("ftp", json!({ "transport": "cubic" }), none(), 2), "1500 B");
        assert_eq!(packet("web", none(), json!({ "transport": "reno" }), 1), "1500 B");
        assert_eq!(packet("ftp", none(), none(), 2), "1500 B");
        assert_eq!(packet("ftp", none(), none(), 1), "1488 B");
        assert_eq!(packet("ftp", json!({ "transport": "jk" }), none(), 2), "1488 B");
        let without = || json!({ "connection": { "timestamps": false } });
        assert_eq!(packet("ftp", without(), none(), 2), "1488 B");
        assert_eq!(packet("ftp", none(), without(), 2), "1488 B");
        assert_eq!(packet("ftp", json!({ "connection": {} }), without(), 2), "1500 B");
    }

    #[test]
    fn both_names_of_a_setting_are_refused() {
        for (flow, path) in [
            (json!({ "transport": "cubic(beta=0.8, decrease=0.7)" }), "flows[0].transport.beta"),
            (json!({ "transport": "cubic(c=0.8, C=0.7)" }), "flows[0].transport.c"),
            (json!({ "traffic": "ftp(mss=1kB, packet=1kB)" }), "flows[0].traffic.mss"),
            (
                json!({ "connection": { "min_rto": "1 s", "timeout": { "floor": "1 s" } } }),
                "flows[0].connection.min_rto",
            ),
        ] {
            let fault = resolved(json!({ "flows": [flow] })).unwrap_err();
            assert!(fault.path == path && fault.message.contains("leave one out"), "{fault:?}");
        }
        let fault = resolved(json!({ "flows": [{ "traffic": "ftp(mss=1460)" }] })).unwrap_err();
        assert_eq!(fault.message, "write a size as text with a unit, like \"1460 B\", not `1460`");
    }

    /// Every transport with the setting has the alias, unless that is a setting of its own.
    #[test]
    fn the_table_is_of_all_that_have_the_setting() {
        let schema = serde_json::to_value(schemars::schema_for!(crate::scenario::Scenario)).unwrap();
        let variants = schema["$defs"]["TransportSettings"]["oneOf"].as_array().unwrap();
        for (name, field) in [("beta", "decrease"), ("C", "scale"), ("c", "scale"), ("ssthresh", "first_threshold")] {
            for variant in variants {
                let (properties, kind) =
                    (&variant["properties"], variant["properties"]["kind"]["const"].as_str().unwrap());
                let has = TRANSPORTS.iter().any(|alias| alias.name == name && alias.is_of(kind));
                let expected = properties.get(field).is_some() && properties.get(name).is_none();
                assert_eq!(has, expected, "{name} of {kind}");
            }
        }
        for variant in schema["$defs"]["TrafficSettings"]["oneOf"].as_array().unwrap() {
            let properties = &variant["properties"];
            let kind = properties["kind"]["const"].as_str().unwrap();
            assert!(!TRAFFIC.is_of(kind) || properties.get("packet").is_some(), "{kind}");
        }
    }
}
