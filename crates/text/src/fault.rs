//! What is wrong with what was written, where, and what to write instead.

/// A fault at a path of what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: `links[0].queue.quantum`; empty for the whole.
    pub path: String,
    /// What, and what to write instead.
    pub message: String,
}

impl Fault {
    /// A fault of `message` at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into() }
    }
}

/// Words of other tools, and what they stand for.
const MEANT: [(&str, &[&str]); 6] = [
    ("tcp", &["cubic", "reno", "bbr"]),
    ("udp", &["uncontrolled"]),
    ("droptail", &["fifo"]),
    ("drop_tail", &["fifo"]),
    ("pfifo", &["fifo"]),
    ("bfifo", &["fifo"]),
];

/// "; did you mean x?" for the nearest of `known`, upper and lower case alike, or what there is.
#[must_use]
pub fn near_miss<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = word.to_lowercase().replace('-', "_");
    let meant = MEANT.into_iter().find(|(other, meant)| *other == lower && meant.iter().all(|one| known.contains(one)));
    match meant {
        Some((_, [one])) => return format!("; did you mean {one}?"),
        Some((_, several)) => return format!("; write one of its kind: {}, …", several.join(", ")),
        None => {}
    }
    let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
    let nearest = known.iter().map(|name| (distance(name), *name)).min();
    match nearest {
        Some((distance, name)) if distance <= (word.chars().count() + 1) / 3 => {
            format!("; did you mean {name}?")
        }
        _ if known.is_empty() => "; there are none".to_string(),
        _ if known.len() <= 24 => format!("; there are {}", known.join(", ")),
        _ => format!("; there are {}, …", known[..24].join(", ")),
    }
}
