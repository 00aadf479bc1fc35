//! Edge lists in CSV: a line for each link, fields separated by commas, semicolons or tabs.
//!
//! A first line like `sep=;` names the separator, or else the heading shows it. Without either it
//! is the separator that gives every line the same number of fields. If there are two, it is the
//! one that is rarer in texts and numbers, tabs before semicolons before commas; that is a note.
//!
//! A first line that names the columns `from` and `to` (or `source` and `target`) is a heading;
//! other columns are `name`, `rate`, `delay` and `weight`, with units in the text or in the heading
//! (`delay_ms`, `rate_mbit_per_s`, `rate_bit_per_s`, `delay_s`), and `type`, `Directed` or
//! `Undirected`, as Gephi writes it. Without a heading the columns are from, to, rate, delay,
//! weight. Text in quotes may hold separators and doubled quotes, but no line breaks. A comma in a
//! number separates decimals, or thousands (`figures.rs`).

use super::attributes::Attributes;
use super::{Broken, Found, FoundEdge, shown};
use fairq_sim::traffic::rows::{fields, headed, most_even, rows, said_separator};
use std::borrow::Cow;

const FROM: &[&str] = &["from", "source", "src"];
const TO: &[&str] = &["to", "target", "dst", "destination"];
const WITHOUT_HEADING: &[&str] = &["from", "to", "rate", "delay", "weight"];

pub(super) fn is_it(text: &str) -> bool {
    // It names its separator, or its first line is a heading; other files are known by the ending
    // of their name.
    let mut rows = rows(text);
    rows.next().is_some_and(|(_, first)| said_separator(first).is_some() || headed(first, is_heading).is_some())
}

fn column(heading: &[String], names: &[&str]) -> Option<usize> {
    heading.iter().position(|field| names.iter().any(|name| field.eq_ignore_ascii_case(name)))
}

fn is_heading(fields: &[String]) -> bool {
    column(fields, FROM).is_some() && column(fields, TO).is_some()
}

pub(super) fn parse(text: &str) -> Result<Found, Broken> {
    let mut found = Found::default();
    let said = rows(text).next().and_then(|(_, first)| said_separator(first));
    let rows: Vec<(usize, &str)> = rows(text).skip(usize::from(said.is_some())).collect();
    let Some((_, first)) = rows.first() else { return Err(Broken::whole("there is no link in it")) };
    let separator = said.or_else(|| headed(first, is_heading)).unwrap_or_else(|| {
        let (separator, other) = most_even(&rows);
        let name = |separator: char| shown(&separator.escape_default().to_string());
        found.notes.extend(other.map(|other| {
            let (one, other) = (name(separator), name(other));
            format!("fields are parted by {one}; {other} would give every line as many fields too")
        }));
        separator
    });
    let mut heading: Vec<String> = WITHOUT_HEADING.iter().map(ToString::to_string).collect();
    for (at, (line, row)) in rows.iter().enumerate() {
        let fields = fields(row, separator).map_err(|message| Broken::at(*line, message))?;
        if at == 0 && is_heading(&fields) {
            heading = fields;
        } else {
            found.edges.push(edge(*line, &heading, &fields, &mut found.warnings)?);
        }
    }
    if found.edges.is_empty() {
        return Err(Broken::whole("there is no link in it"));
    }
    Ok(found)
}

fn edge(line: usize, heading: &[String], fields: &[String], warnings: &mut Vec<String>) -> Result<FoundEdge, Broken> {
    // Tables of other programs have empty fields after the last column.
    if fields.iter().skip(heading.len()).any(|field| !field.is_empty()) {
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
    let direction = column(heading, &["type"]).and_then(|at| fields.get(at));
    edge.is_directed = direction.is_some_and(|direction| direction.eq_ignore_ascii_case("directed"));
    let pairs = heading.iter().zip(fields).map(|(name, field)| (name.as_str(), Cow::Borrowed(field.as_str())));
    Attributes::own(pairs.collect()).describe_edge(&mut edge, warnings);
    Ok(edge)
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
    fn the_separator_gives_every_row_as_many_fields() {
        let ends = |text: &str| {
            let Ok(found) = parse(text) else { panic!("{text} is an edge list") };
            let ends: Vec<String> = found.edges.iter().map(|edge| format!("{}>{}", edge.from, edge.to)).collect();
            (ends.join(" "), found.notes.len())
        };
        let said = |of: &str, notes: usize| (of.to_string(), notes);
        assert_eq!(ends("a;b;10 Mbit/s;2,5 ms\nb;c;10 Mbit/s;2,5 ms\n"), said("a>b b>c", 1));
        assert_eq!(ends("\"Paris, FR\";\"Lyon, FR\";10 Mbit/s\n"), said("Paris, FR>Lyon, FR", 0));
        assert_eq!(ends("\"a;b\",\"c;d\"\n\"c;d\",e\n"), said("a;b>c;d c;d>e", 0));
        assert_eq!(ends("a\tb, c\nb, c\td\n"), said("a>b, c b, c>d", 1));
        assert_eq!(ends("Paris, FR;Lyon, FR\nLyon, FR;Nice, FR\n"), said("Paris, FR>Lyon, FR Lyon, FR>Nice, FR", 1));
        assert_eq!(ends("a;b;1,5 Mbit/s\nb;c;2 Mbit/s\n"), said("a>b b>c", 0));
        // Rows may end early; with the first separator they would not be links.
        assert_eq!(ends("a,b,1 Mbit/s\nb,c;d\n"), said("a>b b>c;d", 0));
        assert_eq!(ends("x;y,b\nb,c\n"), said("x;y>b b>c", 0));
        // The heading, or a `sep=` line, decides.
        assert_eq!(ends("from;to;delay_ms\na,x;b;2,5\nb;c\n"), said("a,x>b b>c", 0));
        assert_eq!(ends("sep=,\na;b,c;d\n"), said("a;b>c;d", 0));
        assert_eq!(ends("sep=;\nfrom;to\na,b;c\n"), said("a,b>c", 0));
        assert!(is_it("sep=;\na;b\n") && !is_it("sep=x\na;b\n"));
        // A tab without a text is an empty field.
        assert_eq!(ends("a\tb\t\nb\tc\t1 Mbit/s\n"), said("a>b b>c", 0));
        assert_eq!(ends("a;b;;;;;;\nb;c;;;;;;\n"), said("a>b b>c", 0));
    }

    #[test]
    fn decimal_commas_are_read_and_what_may_be_either_is_told() {
        let Ok(found) = parse("a;b;2,5 Mbit/s;2,5 ms;1,5\nb;c;1,000 Mbit/s;1,000 ms;\n") else {
            panic!("it is an edge list")
        };
        let [plain, either] = found.edges.as_slice() else { panic!("two links") };
        assert_eq!(plain.rate.map(|rate| rate.bit_per_s()), Some(2_500_000));
        assert_eq!(
            (plain.delay, plain.weight.map(|weight| weight.thousandths())),
            (Some(Time(2_500_000_000)), Some(1500))
        );
        assert_eq!((either.rate, either.delay), (None, None));
        let fault = "the rate `1,000` may be 1000 or 1.000; write it without a comma";
        assert_eq!(either.rate_fault.as_deref(), Some(fault));
        assert_eq!(found.warnings, ["the delay `1,000` may be 1000 or 1.000; write it without a comma"]);
    }

    #[test]
    fn an_edge_may_say_its_direction() {
        let Ok(found) = parse("Source,Target,Type\na,b,Directed\nb,a,Undirected\nb,c\n") else {
            panic!("it is an edge list")
        };
        assert_eq!(found.edges.iter().map(|edge| edge.is_directed).collect::<Vec<_>>(), [true, false, false]);
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
            ("a;b\nc\n", Some(2), "no to"),
            ("a;b;1 Mbit/s;1 ms;2;x\n", Some(1), "6 fields under 5 columns"),
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
