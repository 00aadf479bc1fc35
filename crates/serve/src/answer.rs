//! The answer in words: how long the tenant waits that asks least, and whether bounds were kept.

use crate::document::{Answer, LOG, Likeness, PolicyRow, Row, TenantRow};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The column that is compared.
const QUANTITY: &str = "waiting_s_p99";

/// Two values that differ by a smaller part are the same.
const SAME: f64 = 0.02;

/// The least agreement at which a log looks like a policy.
const LOOKS_LIKE: f64 = 0.9;

/// The least number of pairs by which that is judged.
const PAIRS_MIN: u64 = 20;

/// The answer of these rows.
pub(crate) fn of(tenants: &[TenantRow], policies: &[PolicyRow], rows: &[Row], likeness: &[Likeness]) -> Answer {
    let (tenant, who) = asking_least(tenants, rows);
    let of_tenant: Vec<&Row> = rows.iter().filter(|row| row.tenant == tenant).collect();
    let measured: Vec<(&Row, f64)> = of_tenant.iter().filter_map(|row| Some((*row, row.waiting_s_p99?))).collect();
    let low = measured.iter().copied().reduce(|a, b| if b.1 < a.1 { b } else { a });
    let is_best = |(row, value): &(&Row, f64)| {
        low.is_some_and(|(first, low)| {
            let reach = first.waiting_s_p99_high.unwrap_or(low).max(low * (1.0 + SAME));
            row.waiting_s_p99_low.unwrap_or(*value) <= reach
        })
    };
    let (first, others): (Vec<_>, Vec<_>) = measured.iter().copied().partition(is_best);
    let names = |rows: &[(&Row, f64)]| rows.iter().map(|(row, _)| row.policy.clone()).collect::<Vec<String>>();
    let (best, decided) = (names(&first), !others.is_empty());
    let mut text =
        policies.iter().find_map(|row| row.note.as_ref()).map_or(String::new(), |note| format!("In the log {note}. "));
    if let Some((_, low)) = low {
        let _ = write!(text, "99 % of the requests of {who} start within {} {}", shown(low), under(&best));
        if let Some(high) = others.iter().map(|(_, value)| *value).reduce(f64::max) {
            let last: Vec<_> = others.into_iter().filter(|(_, value)| *value >= high * (1.0 - SAME)).collect();
            let _ = write!(text, ", and within {} {}", shown(high), under(&names(&last)));
        } else if best.len() > 1 {
            text.push_str(", the same");
        }
        text.push('.');
    }
    text.push_str(&bounds(policies));
    text.push_str(&missed(rows));
    let (looks_like, said) = looks(likeness);
    text.push_str(&said);
    Answer { tenant, quantity: QUANTITY, best, decided, looks_like, text: text.trim().to_owned() }
}

/// The tenant that asks least, and how it is spoken of. One of few requests, and of fewer than a
/// tenth of another's, tells little. Of those that ask the same it is the one that waits longest.
fn asking_least(tenants: &[TenantRow], rows: &[Row]) -> (String, String) {
    let most = tenants.iter().map(|tenant| tenant.requests).max().unwrap_or(0);
    let enough = most.div_ceil(10).min(REQUESTS_MIN);
    let asked = |tenant: &TenantRow| tenant.requests as f64 * tenant.cost_s_mean;
    let mut longest_waits: BTreeMap<&str, f64> = BTreeMap::new();
    for row in rows {
        let longest = longest_waits.entry(&row.tenant).or_default();
        *longest = longest.max(row.waiting_s_p99.unwrap_or(0.0));
    }
    let waits = |tenant: &TenantRow| longest_waits.get(tenant.tenant.as_str()).copied().unwrap_or(0.0);
    let with_enough = || tenants.iter().filter(|tenant| tenant.requests >= enough);
    let least = with_enough().map(asked).fold(f64::INFINITY, f64::min);
    let as_little: Vec<&TenantRow> = with_enough().filter(|tenant| asked(tenant) <= least * (1.0 + SAME)).collect();
    let longest = as_little.iter().copied().reduce(|a, b| if waits(b) > waits(a) { b } else { a });
    let tenant = longest.map_or(String::new(), |tenant| tenant.tenant.clone());
    let who = match (tenants.len(), as_little.len()) {
        (1, _) => format!("`{tenant}`"),
        (_, 1) => format!("`{tenant}`, which asks least,"),
        _ => format!("`{tenant}`, which waits longest of those that ask least,"),
    };
    (tenant, who)
}

/// As many requests are not few.
const REQUESTS_MIN: u64 = 100;

/// Whether gaps stayed within bounds, and where none is proven.
fn bounds(policies: &[PolicyRow]) -> String {
    let nearest = policies.iter().filter_map(|row| Some((row, row.bound_reached?)));
    let nearest = nearest.reduce(|a, b| if b.1 > a.1 { b } else { a });
    let without: Vec<String> = policies
        .iter()
        .filter(|row| row.policy != LOG && row.bound_reached.is_none() && row.gap_s_max.is_some())
        .map(|row| row.policy.clone())
        .collect();
    let largest = policies.iter().filter(|row| without.contains(&row.policy)).filter_map(|row| row.gap_s_max);
    let mut text = String::new();
    if let Some((row, part)) = nearest.filter(|(_, part)| *part > 0.0) {
        let kept = if part <= 1.0 { "No tenant fell" } else { "A tenant fell" };
        text = format!(
            " {kept} further behind another than the bound of the policy; {} came nearest, to {:.0} % of it.",
            row.policy,
            100.0 * part
        );
    }
    if let Some(largest) = largest.reduce(f64::max).filter(|largest| *largest > 0.0) {
        text = format!(
            "{text} No bound is proven of {}: there a tenant fell behind another by {} of service.",
            listed(&without),
            shown(largest)
        );
    }
    text
}

/// Where a tenant of a log missed most of its max-min share.
fn missed(rows: &[Row]) -> String {
    let of_log = rows.iter().filter(|row| row.policy == LOG);
    let missing = of_log.filter_map(|row| Some((row, row.worst_from_s?, row.worst_to_s?, row.missing_s?)));
    let Some((row, from, to, missing)) = missing.reduce(|a, b| if b.3 > a.3 { b } else { a }) else {
        return String::new();
    };
    format!(
        " In the log `{}` missed most: from {} to {} it waited and got {} of a seat less than its max-min share.",
        row.tenant,
        shown(from),
        shown(to),
        shown(missing)
    )
}

/// Which policy the log looks like.
fn looks(likeness: &[Likeness]) -> (Option<String>, String) {
    let Some(first) = likeness.first() else { return (None, String::new()) };
    let Some(agreement) = first.agreement.filter(|_| first.pairs >= PAIRS_MIN) else {
        return (
            None,
            " Too few requests of different tenants waited together to tell which policy the log looks like."
                .to_owned(),
        );
    };
    let percent = 100.0 * agreement;
    if agreement < LOOKS_LIKE {
        let text = format!(
            " The log looks like none of these policies; {} is nearest, with the order of {percent:.0} % of the pairs that waited together.",
            first.policy
        );
        return (None, text);
    }
    let same: Vec<String> = likeness
        .iter()
        .filter(|other| other.agreement.is_some_and(|other| other >= agreement - 0.01))
        .map(|other| other.policy.clone())
        .collect();
    let text = format!(
        " The log looks like {}: the order of {percent:.0} % of the pairs that waited together.",
        listed(&same)
    );
    ((same.len() == 1).then(|| first.policy.clone()), text)
}

/// Under which policies, and whether in the log.
fn under(policies: &[String]) -> String {
    let named: Vec<String> = policies.iter().filter(|name| *name != LOG).cloned().collect();
    let log = if named.len() < policies.len() { vec!["in the log".to_owned()] } else { vec![] };
    let named = if named.is_empty() { vec![] } else { vec![format!("under {}", listed(&named))] };
    [named, log].concat().join(" and ")
}

fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Seconds with a unit and three digits.
fn shown(seconds: f64) -> String {
    let (value, unit) = match seconds {
        0.0 => return "0 s".to_owned(),
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "us"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s if s < 600.0 => (s, "s"),
        s if s < 36_000.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    let digits = if value < 10.0 { 2 } else { usize::from(value < 100.0) };
    let text = format!("{value:.digits$}");
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text };
    format!("{text} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_no_policy() {
        let said = [&["log"][..], &["fcfs"], &["log", "fcfs"], &["log", "fcfs", "vtc"]]
            .map(|names| under(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()));
        assert_eq!(
            said,
            ["in the log", "under fcfs", "under fcfs and in the log", "under fcfs and vtc and in the log"]
        );
    }

    #[test]
    fn times_are_said_with_three_digits() {
        let said = [0.0, 2.5e-8, 1.234e-5, 0.0456, 0.5, 9.996, 123.4, 3600.0, 1e6].map(shown);
        assert_eq!(said, ["0 s", "25 ns", "12.3 us", "45.6 ms", "500 ms", "10 s", "123 s", "60 min", "278 h"]);
    }
}
