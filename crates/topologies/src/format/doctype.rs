//! Limits for a document type declaration: entities only as defined in the file itself, and not
//! much text by them.
//!
//! The XML reader expands internal entities and limits how deep they nest, but not how much text
//! they make, and silently skips the rest. Other files are never read: an entity that is in one is
//! refused, and the file of a `DOCTYPE graphml SYSTEM "…"` has no effect, as in any reader that
//! does not validate (XML 1.0, 5.1).

use super::{Broken, count, shown};
use std::collections::BTreeMap;

/// Entities may double the length of a file and add this many bytes.
const GROWTH: usize = 1 << 20;

/// Entities within entities; the XML reader goes no deeper.
const DEPTH: usize = 10;

/// Refuses the entities of `text` that must not be read. Returns a warning if it declares something
/// that is ignored.
pub(super) fn check(text: &str) -> Result<Option<String>, Broken> {
    let line = |rest: &str| text[..text.len() - rest.len()].bytes().filter(|byte| *byte == b'\n').count() + 1;
    let Some(Declared { entities, attributes, rest }) = declared(text, &line)? else { return Ok(None) };
    let mut sizes: BTreeMap<&str, usize> = entities.iter().map(|(name, value)| (*name, value.len())).collect();
    for _ in 0..DEPTH {
        let size = |value: &str| {
            let inner = references(value).filter_map(|(name, _)| sizes.get(name));
            inner.fold(value.len(), |sum, size| sum.saturating_add(*size))
        };
        sizes = entities.iter().map(|(name, value)| (*name, size(value))).collect();
    }
    let most = text.len() + GROWTH;
    let mut made = 0usize;
    for (name, after) in references(rest) {
        made = made.saturating_add(sizes.get(name).copied().unwrap_or(0));
        if made > most {
            let message = format!("entities like {} make more than {most} bytes; write the text itself", shown(name));
            return Err(Broken::at(line(after), message));
        }
    }
    let lists = count(attributes, "list");
    Ok((attributes > 0)
        .then(|| format!("{lists} of attributes in the DOCTYPE left out, with what they give by default")))
}

/// The declarations in a document type declaration.
struct Declared<'a> {
    /// Entities by name; the first declaration of each counts.
    entities: BTreeMap<&'a str, &'a str>,
    /// The number of attribute lists.
    attributes: usize,
    /// The document after it.
    rest: &'a str,
}

/// Scans the document type declaration as the XML reader does. `None` if there is none, or a broken
/// one, which that reader refuses.
fn declared<'a>(text: &'a str, line: &dyn Fn(&str) -> usize) -> Result<Option<Declared<'a>>, Broken> {
    let after = |rest: &'a str, end: &str| rest.split_once(end).map(|(_, rest)| rest);
    // Comments and processing instructions may be before it, and within.
    let passed = |mut rest: &'a str| loop {
        rest = rest.trim_start();
        let end = if rest.starts_with("<!--") {
            "-->"
        } else if rest.starts_with("<?") {
            "?>"
        } else {
            return Some(rest);
        };
        rest = after(rest, end)?;
    };
    let Some(start) = passed(text).and_then(|rest| rest.strip_prefix("<!DOCTYPE")) else { return Ok(None) };
    let mut quote = None;
    let is_end = |c: char| match quote {
        Some(open) => {
            quote = (c != open).then_some(open);
            false
        }
        None => {
            quote = matches!(c, '"' | '\'').then_some(c);
            matches!(c, '[' | '>')
        }
    };
    let Some(end) = start.find(is_end) else { return Ok(None) };
    let (mut entities, mut attributes) = (BTreeMap::new(), 0);
    let mut rest = &start[end + 1..];
    if start[end..].starts_with('>') {
        return Ok(Some(Declared { entities, attributes, rest }));
    }
    while let Some(next) = passed(rest) {
        if let Some(rest) = next.strip_prefix(']') {
            return Ok(Some(Declared { entities, attributes, rest }));
        }
        if next.starts_with('%') {
            return Err(Broken::at(line(next), "parameter entities are not known here; write their text itself"));
        }
        if let Some(said) = next.strip_prefix("<!ENTITY") {
            let said = said.trim_start();
            let (is_parameter, said) = said.strip_prefix('%').map_or((false, said), |rest| (true, rest.trim_start()));
            let Some((name, value)) = said.split_once(char::is_whitespace) else { return Ok(None) };
            let value = value.trim_start();
            if value.starts_with("SYSTEM") || value.starts_with("PUBLIC") {
                let remedy = "stands in another file, which is not read; write its text itself";
                return Err(Broken::at(line(next), format!("the entity {} {remedy}", shown(name))));
            }
            let Some(open) = value.chars().next().filter(|first| matches!(first, '"' | '\'')) else { return Ok(None) };
            let Some((value, behind)) = value[1..].split_once(open) else { return Ok(None) };
            if !is_parameter {
                entities.entry(name).or_insert(value);
            }
            let Some(behind) = after(behind, ">") else { return Ok(None) };
            rest = behind;
            continue;
        }
        attributes += usize::from(next.starts_with("<!ATTLIST"));
        let Some(behind) = next.strip_prefix("<!").and_then(|declaration| after(declaration, ">")) else {
            return Ok(None);
        };
        rest = behind;
    }
    Ok(None)
}

/// The entities that `text` refers to, each with what follows.
fn references(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let (_, after) = rest.split_once('&')?;
            rest = after;
            let is_end = |c: char| c == ';' || c == '&' || c == '<' || c.is_whitespace();
            let end = after.find(is_end)?;
            if after[end..].starts_with(';') {
                return Some((&after[..end], after));
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> String {
        match check(text) {
            Ok(warning) => warning.unwrap_or_default(),
            Err(broken) => format!("{}: {}", broken.line.unwrap_or_default(), broken.message),
        }
    }

    #[test]
    fn entities_that_the_file_spells_out_are_no_fault() {
        for text in [
            "",
            "<a>&b;</a>",
            "<!DOCTYPE graphml>\n<graphml/>",
            "<?xml version=\"1.0\"?>\n<!-- <!DOCTYPE a [<!ENTITY b SYSTEM 'c'>]> -->\n<!DOCTYPE a SYSTEM \"b[>.dtd\"><a/>",
            "<!DOCTYPE a PUBLIC \"-//b\" 'c.dtd' [ ]><a/>",
            "<!DOCTYPE a [<!-- <!ENTITY b SYSTEM 'c'> --><?b <!ENTITY b SYSTEM 'c'> ?><!ELEMENT b ANY>]><a/>",
            "<!DOCTYPE a [<!ENTITY b 'c &amp; SYSTEM'><!ENTITY d \"'&b;'\">]><a>&b;&d;&#65;</a>",
            // Broken declarations are left to the XML reader.
            "<!DOCTYPE a [<!ENTITY b",
            "<!DOCTYPE a [<!ENTITY b c>]>",
            "<!DOCTYPE a [ nonsense ]>",
        ] {
            assert_eq!(said(text), "", "{text}");
        }
        let lists = "<!DOCTYPE a [<!ATTLIST b c CDATA \"d\"><!ATTLIST e f CDATA \"g\">]><a/>";
        assert_eq!(said(lists), "2 lists of attributes in the DOCTYPE left out, with what they give by default");
    }

    #[test]
    fn other_files_are_not_read() {
        let refused = |name: &str| {
            format!("3: the entity `{name}` stands in another file, which is not read; write its text itself")
        };
        for entity in [
            "<!ENTITY b SYSTEM \"file:///etc/passwd\">",
            "<!ENTITY b PUBLIC '-//b' 'http://example.org/b'>",
            "<!ENTITY\tb\tSYSTEM 'b.gif' NDATA gif>",
            "<!ENTITY % b SYSTEM 'b.dtd'>",
        ] {
            assert_eq!(said(&format!("<!DOCTYPE a [\n<!ELEMENT a ANY>\n{entity} ]><a>&b;</a>")), refused("b"));
        }
        let parameter = "<!DOCTYPE a [<!ENTITY % b '<!ELEMENT a ANY>'>\n%b;]><a/>";
        assert_eq!(said(parameter), "2: parameter entities are not known here; write their text itself");
    }

    #[test]
    fn entities_make_no_more_text_than_a_file_holds() {
        let nested = |levels: usize| {
            let level = |at: usize| format!("<!ENTITY e{} \"{}\">", at + 1, format!("&e{at};").repeat(10));
            let declared = (0..levels).map(level).collect::<String>();
            format!("<!DOCTYPE a [<!ENTITY e0 \"ha\">{declared}]><a>\n&e{levels};</a>")
        };
        assert_eq!(said(&nested(3)), "");
        assert!(said(&nested(9)).starts_with("2: entities like `e9` make more than "));
        // One long entity, many times.
        let long = |times: usize| {
            format!("<!DOCTYPE a [<!ENTITY b \"{}\">]><a>\n{}</a>", "x".repeat(100_000), "&b;".repeat(times))
        };
        assert_eq!(said(&long(10)), "");
        assert!(said(&long(20)).starts_with("2: entities like `b` make more than "));
        // An entity that contains itself is refused by the XML reader, unless it grows.
        assert_eq!(said("<!DOCTYPE a [<!ENTITY b \"&b;\">]><a>&b;</a>"), "");
        assert!(said("<!DOCTYPE a [<!ENTITY b \"&b;&b;&b;&b;&b;\">]><a>&b;</a>").contains("make more than"));
    }
}
