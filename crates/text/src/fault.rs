//! What is wrong with what was written, where, and what to write instead.

/// A fault at a path of what was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where: `links[0].queue.quantum`; empty for the whole.
    pub path: String,
    /// The field of the scenario that is meant, where `path` is an axis or an option that sets it;
    /// else empty.
    pub field: String,
    /// What, and what to write instead.
    pub message: String,
    /// What kind of fault it is.
    pub kind: Kind,
}

/// What is wrong with what was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Its value.
    #[default]
    Value,
    /// The name of a field.
    Field,
    /// A word in place of one of those that there are.
    Word,
}

impl Fault {
    /// A fault of `message` at `path`.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), field: String::new(), message: message.into(), kind: Kind::Value }
    }

    /// The same fault of this kind.
    #[must_use]
    pub const fn of_kind(mut self, kind: Kind) -> Self {
        self.kind = kind;
        self
    }

    /// The same fault of this field, which what stands at the path sets.
    #[must_use]
    pub fn of_field(mut self, field: impl Into<String>) -> Self {
        self.field = field.into();
        self
    }
}

/// Words of other tools and what they are called here: a file of the Python package, which reads it
/// too.
const FOREIGN: &str = include_str!("../../../python/fairq/core/foreign_words.txt");

/// What to write for a word of others, if its name is one of `known`.
fn meant(word: &str, known: &[&str]) -> Option<&'static str> {
    FOREIGN.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut parts = line.split('|').map(str::trim);
        let (words, name) = (parts.next()?, parts.next()?);
        let fits = words.split(',').any(|other| other.trim() == word) && known.contains(&name);
        fits.then(|| parts.next().unwrap_or(name))
    })
}

/// "; did you mean x?" for the nearest of `known`, upper and lower case alike, or what there is.
#[must_use]
pub fn near_miss<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let lower = word.to_lowercase().replace(['-', ' '], "_");
    match meant(&lower, &known) {
        Some(ours) if ours.contains(' ') => return format!("; write {ours}"),
        Some(ours) => return format!("; did you mean {ours}?"),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_other_tools_is_told_by_its_name_here() {
        for (word, known, said) in [
            ("latency", &["rate", "delay"][..], "; did you mean delay?"),
            ("Latency", &["rate", "rtt"], "; did you mean rtt?"),
            ("seeds", &["seed", "replications"], "; write replications = 3"),
            ("dual-dsthost", &["dual_destination", "triple"], "; did you mean dual_destination?"),
            ("udp", &["uncontrolled", "cubic"], "; did you mean uncontrolled?"),
            ("fq codel", &["fq", "fq_codel"], "; did you mean fq_codel?"),
            ("rwnd", &["connection"], "; write connection = { receive_window = 4000 }"),
        ] {
            assert_eq!(near_miss(word, known.iter().copied()), said, "{word}");
        }
    }

    #[test]
    fn each_line_of_the_table_names_words_and_a_name() {
        for line in FOREIGN.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            assert!((2..=3).contains(&line.split('|').count()) && line.len() <= 120, "{line}");
        }
    }
}
