//! Edge lists in CSV: a line for each link, parted by commas, semicolons or tabs.
//!
//! A first line that names the columns `from` and `to` (or `source` and `target`) is a heading; other columns are `name`,
//! `rate`, `delay` and `weight`, with units in the text, or with the unit in the heading (`delay_ms`, `rate_mbit_per_s`,
//! `rate_bit_per_s`, `delay_s`). Without a heading the columns are from, to, rate, delay, weight. Text in quotes may hold
//! separators and doubled quotes, but no line breaks.

use super::attributes::Attributes;
use super::{Broken, Found, FoundEdge};

const FROM: &[&str] = &["from", "source", "src"];
const TO: &[&str] = &["to", "target", "dst", "destination"];
const WITHOUT_HEADING: &[&str] = &["from", "to", "rate", "delay", "weight"];

pub(super) fn is_it(text: &str) -> bool {
    // Its first line is a heading; what has none is known by the ending of its name.
    let first = rows(text).next();
    let Some((_, Ok(fields))) = first else { return false };
    is_heading(&fields)
}

fn column(heading: &[String], names: &[&str]) -> Option<usize> {
    heading.iter().position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name)))
}

fn is_heading(fields: &[String]) -> bool {
    column(fields, FROM).is_some() && column(fields, TO).is_some()
}

pub(super) fn parse(text: &str) -> Result<Found, Broken> {
    let mut found = Found::default();
    let mut heading: Option<Vec<String>> = None;
    for (line, fields) in rows(text) {
        let fields = fields.map_err(|message| Broken::at(line, message))?;
        let Some(heading) = &heading else {
            let is_heading = is_heading(&fields);
            heading = Some(if is_heading {
                fields.clone()
            } else {
                WITHOUT_HEADING.iter().map(ToString::to_string).collect()
            });
            if !is_heading {
                found.edges.push(edge(line, heading.as_deref().unwrap_or_default(), &fields, &mut found.warnings)?);
            }
            continue;
        };
        found.edges.push(edge(line, heading, &fields, &mut found.warnings)?);
    }
    if found.edges.is_empty() {
        return Err(Broken::whole("there is no link in it"));
    }
    Ok(found)
}

fn edge(line: usize, heading: &[String], fields: &[String], warnings: &mut Vec<String>) -> Result<FoundEdge, Broken> {
    if fields.len() > heading.len() {
        return Err(Broken::at(line, format!("there are {} fields under {} columns", fields.len(), heading.len())));
    }
    let named = |names: &[&str]| {
        let field = column(heading, names).and_then(|at| fields.get(at)).filter(|field| !field.is_empty());
        field.cloned().ok_or_else(|| Broken::at(line, format!("a link has no {}", names[0])))
    };
    let mut edge = FoundEdge { line, from: named(FROM)?, to: named(TO)?, ..FoundEdge::default() };
    let name = column(heading, &["name", "link"]).and_then(|at| fields.get(at));
    edge.name = name.filter(|name| !name.is_empty()).cloned();
    if edge.name.as_ref().is_some_and(|name| name.starts_with('-')) {
        return Err(Broken::at(line, "the name of a link does not begin with -"));
    }
    let pairs = heading.iter().zip(fields).map(|(name, field)| (name.as_str(), field.as_str()));
    Attributes(pairs.collect()).describe_edge(&mut edge, warnings);
    Ok(edge)
}

/// The lines that are neither empty nor comments, with their numbers, in fields.
fn rows(text: &str) -> impl Iterator<Item = (usize, Result<Vec<String>, &'static str>)> {
    let is_row = |(_, line): &(usize, &str)| !line.is_empty() && !line.starts_with('#');
    let rows = text.lines().enumerate().map(|(at, line)| (at + 1, line.trim())).filter(is_row);
    // The first row says what parts the fields of all.
    let separator = rows.clone().next().map_or(',', |(_, first)| {
        [',', ';', '\t'].into_iter().find(|separator| first.contains(*separator)).unwrap_or(',')
    });
    rows.map(move |(line, row)| (line, fields(row, separator)))
}

fn fields(row: &str, separator: char) -> Result<Vec<String>, &'static str> {
    let mut fields = Vec::new();
    let mut rest = row;
    loop {
        rest = rest.trim_start_matches(' ');
        let Some(quoted) = rest.strip_prefix('"') else {
            let (field, after) = rest.split_once(separator).map_or((rest, None), |(field, rest)| (field, Some(rest)));
            fields.push(field.trim().to_string());
            match after {
                Some(after) => rest = after,
                None => return Ok(fields),
            }
            continue;
        };
        let mut field = String::new();
        let mut inside = quoted;
        loop {
            let (text, after) = inside.split_once('"').ok_or("a text is not closed by a quote")?;
            field.push_str(text);
            match after.strip_prefix('"') {
                Some(after) => {
                    field.push('"');
                    inside = after;
                }
                None => {
                    inside = after.trim_start_matches(' ');
                    break;
                }
            }
        }
        fields.push(field);
        match inside.strip_prefix(separator) {
            Some(after) => rest = after,
            None if inside.is_empty() => return Ok(fields),
            None => return Err("behind the quote of a text comes the next field"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;

    #[test]
    fn columns_are_known_by_their_headings_or_their_order() {
        let named =
            "# links\nSource;Target;delay_ms;rate;name;colour\nA;\"B \"\"x\"\"; y\";2.5;10 Mbit/s;first;red\n\nB;C\n";
        assert!(is_it(named));
        let Ok(found) = parse(named) else { panic!("it is an edge list") };
        assert_eq!((found.edges[0].to.as_str(), found.edges[0].name.as_deref()), ("B \"x\"; y", Some("first")));
        assert_eq!(found.edges[0].delay, Some(Time(2_500_000_000)));
        assert_eq!(found.edges[0].rate.map(|rate| rate.bit_per_s()), Some(10_000_000));
        assert_eq!((found.edges[1].line, found.edges[1].delay), (5, None));
        let Ok(found) = parse("1,2,1 Gbit/s,3 ms,4\n2,3") else { panic!("it is an edge list") };
        assert_eq!((found.edges.len(), found.edges[0].delay), (2, Some(Time::from_ms(3))));
        assert_eq!(found.edges[0].weight.map(|weight| weight.thousandths()), Some(4000));
        assert!(!is_it("1,2,1 Gbit/s") && !is_it(""));
    }

    #[test]
    fn what_is_no_edge_list_is_said_with_its_line() {
        for (text, line, said) in [
            ("from,to\na\n", Some(2), "no to"),
            ("from,to\na,\n", Some(2), "no to"),
            ("from,to\na,b,c\n", Some(2), "3 fields under 2 columns"),
            ("from,to\n\"a,b\n", Some(2), "quote"),
            ("from,to\n\"a\"x,b\n", Some(2), "next field"),
            ("from,to\n", None, "no link"),
            ("", None, "no link"),
            ("from,to,name\na,b,-x\n", Some(2), "begin with -"),
        ] {
            let Err(broken) = parse(text) else { panic!("{text} is an edge list") };
            assert!(
                broken.line == line && broken.message.contains(said),
                "{text}: {:?} {}",
                broken.line,
                broken.message
            );
        }
    }
}
