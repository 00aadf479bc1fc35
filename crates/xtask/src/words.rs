//! The words of comments and pages: which are refused and what to write instead, and how many lines
//! are too wide.
//!
//! Looked at are comments of Rust and C, comments and docstrings of Python, and pages; not what
//! stands in backticks, in a fenced block, in curly quotes, in the target of a link, or, among the
//! papers, behind `>`.

use std::fs;
use std::path::Path;

use crate::Findings;

/// Refused words, and what to write instead.
struct Rule {
    words: &'static [&'static str],
    instead: &'static str,
    /// Allowed in pages, which speak of people.
    in_code_only: bool,
}

const RULES: &[Rule] = &[
    Rule {
        words: &["whoever", "whomever", "nobody", "somebody", "anybody", "everybody"],
        instead: "name the packet, flow, queue or caller; `None` or \"no packet\" for none",
        in_code_only: false,
    },
    Rule { words: &["who", "whom"], instead: "name the thing; \"who\" is for people", in_code_only: true },
    Rule { words: &["so many"], instead: "name the number: \"n packets\", \"the number of\"", in_code_only: false },
    Rule { words: &["taught"], instead: "trained", in_code_only: false },
    Rule { words: &["world", "worlds"], instead: "test network", in_code_only: false },
    Rule { words: &["drawn"], instead: "random, sampled or plotted", in_code_only: false },
    Rule {
        words: &["law", "laws"],
        instead: "algorithm, congestion control, distribution, invariant or control law",
        in_code_only: false,
    },
    Rule { words: &["by turns"], instead: "alternately, or round robin", in_code_only: false },
    Rule { words: &["dearest"], instead: "most expensive", in_code_only: false },
    Rule { words: &["unseen"], instead: "bypass", in_code_only: false },
    Rule { words: &["reckon", "reckons", "reckoned"], instead: "compute, computed", in_code_only: false },
];

/// A refused word that is the right one within `phrase`, in files whose path begins with `path`.
struct Exemption {
    path: &'static str,
    phrase: &'static str,
    reason: &'static str,
}

const EXEMPTIONS: &[Exemption] = &[
    Exemption { path: "", phrase: "control law", reason: "the term of RFC 8289 and of control theory" },
    Exemption { path: "", phrase: "control laws", reason: "the term of RFC 8289 and of control theory" },
    Exemption { path: "", phrase: "Law and Kelton", reason: "authors of a textbook" },
    Exemption { path: "", phrase: "Little's law", reason: "the name of the theorem" },
    Exemption { path: "crates/topologies/src/", phrase: "Small World Networks", reason: "the title of a paper" },
    Exemption { path: "crates/topologies/src/", phrase: "Real-World", reason: "the title of a paper" },
    Exemption { path: "docs/reference/traffic.md", phrase: "\"drawn\"", reason: "a value of `begins`" },
];
/// More of them, and the list of words is wrong.
#[cfg(test)]
const EXEMPTIONS_MAX: usize = 20;

/// What is not looked at: history, and texts of others.
const LEFT_OUT: &[&str] = &["CHANGELOG.md", "LICENSE"];
/// Pages that are written by programs, with a line per paragraph.
const GENERATED: &[&str] = &["docs/reference/"];
/// Where lines that begin with `>` are quotes of a paper.
const QUOTING: &str = "papers/";

/// Past this a line of prose is too wide.
const WIDTH_MAX: usize = 100;
/// Lines of comments and pages that are wider. The number may not rise; when it falls, write the
/// new one.
const WIDE_LINES: usize = 846;

/// Refused words and lines too wide in the files of the checkout.
pub(crate) fn words(root: &Path, paths: &[String]) -> Findings {
    let mut findings = Findings::new();
    let mut used = vec![false; EXEMPTIONS.len()];
    let mut wide = 0;
    for path in paths.iter().filter(|path| !begins_with_any(path, LEFT_OUT)) {
        let Some(kind) = Kind::of(path) else { continue };
        // a file of another encoding is data
        let Ok(text) = fs::read_to_string(root.join(path)) else { continue };
        let lines = prose(kind, &text);
        if !begins_with_any(path, GENERATED) {
            wide += lines.iter().filter(|line| line.is_wide).count();
        }
        findings.extend(refused(path, kind, &lines, &mut used));
    }
    findings.extend(width_finding(wide, WIDE_LINES));
    let idle = EXEMPTIONS.iter().zip(&used).filter(|(_, is_used)| !**is_used);
    findings.extend(idle.map(|(exemption, _)| {
        let Exemption { phrase, reason, .. } = exemption;
        format!("crates/xtask/src/words.rs: the exemption of {phrase:?} ({reason}) excuses no line; remove it")
    }));
    findings
}

fn begins_with_any(path: &str, beginnings: &[&str]) -> bool {
    beginnings.iter().any(|beginning| path.starts_with(beginning))
}

/// What to do about the number of wide lines, if it is not the committed one.
fn width_finding(wide: usize, committed: usize) -> Option<String> {
    let place = "crates/xtask/src/words.rs: WIDE_LINES";
    match wide.cmp(&committed) {
        std::cmp::Ordering::Equal => None,
        std::cmp::Ordering::Less => Some(format!("{place}: fewer lines are too wide than were; write {wide}")),
        std::cmp::Ordering::Greater => Some(format!(
            "{place}: {wide} lines of comments and pages are wider than {WIDTH_MAX} columns, {committed} were; wrap the new ones"
        )),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Rust or C.
    Braces,
    Python,
    Page,
}

impl Kind {
    fn of(path: &str) -> Option<Self> {
        match path.rsplit_once('.')?.1 {
            "rs" | "h" | "c" => Some(Self::Braces),
            "py" | "pyi" => Some(Self::Python),
            "md" => Some(Self::Page),
            _ => None,
        }
    }
}

/// The part of a line that is prose, without what is quoted.
struct Prose {
    number: usize,
    text: String,
    is_wide: bool,
}

/// The lines of a file that hold prose.
fn prose(kind: Kind, text: &str) -> Vec<Prose> {
    let comments = match kind {
        Kind::Braces => comments_of_braces(text),
        Kind::Python => comments_of_python(text),
        Kind::Page => text.lines().map(str::to_owned).map(Some).collect(),
    };
    let mut found = Vec::new();
    let mut is_fenced = false;
    for (index, (comment, line)) in comments.into_iter().zip(text.lines()).enumerate() {
        let Some(comment) = comment else {
            is_fenced = false;
            continue;
        };
        let start = comment.trim_start_matches(['/', '!', '#', '*']).trim_start();
        if start.starts_with("```") {
            is_fenced = !is_fenced;
        } else if !is_fenced && !start.starts_with(">>>") && !start.starts_with("... ") {
            let is_row = start.starts_with('|');
            let is_wide = !is_row && line.chars().count() > WIDTH_MAX;
            found.push(Prose { number: index + 1, text: unquoted(&comment), is_wide });
        }
    }
    found
}

/// A line without code in backticks, curly quotes and targets of links.
fn unquoted(line: &str) -> String {
    let mut left = String::new();
    let mut rest = line;
    while let Some(at) = rest.find(['`', '\u{201c}', ']']) {
        let (before, found) = rest.split_at(at);
        left.push_str(before);
        let (open, close) = match found.chars().next() {
            Some('`') => ("`", "`"),
            Some(']') => ("](", ")"),
            _ => ("\u{201c}", "\u{201d}"),
        };
        let inside = found.strip_prefix(open).and_then(|inside| inside.split_once(close));
        left.push_str(if open == "](" { "]" } else { "`" });
        rest = match inside {
            Some((_, after)) => after,
            None => &found[found.chars().next().map_or(0, char::len_utf8)..],
        };
    }
    left + rest
}

/// Per line of Rust or C its comment, if it has one.
fn comments_of_braces(text: &str) -> Vec<Option<String>> {
    enum At {
        Code,
        Line,
        Block,
        Text,
        Raw(usize),
    }
    let mut found = vec![None];
    let mut at = At::Code;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut step = c.len_utf8();
        if c == '\n' {
            at = if matches!(at, At::Line) { At::Code } else { at };
            found.push(matches!(at, At::Block).then(String::new));
            rest = &rest[step..];
            continue;
        }
        match at {
            At::Code if rest.starts_with("//") => at = At::Line,
            At::Code if rest.starts_with("/*") => at = At::Block,
            At::Code if c == '"' => at = At::Text,
            At::Code if c == 'r' => {
                let hashes = rest[1..].len() - rest[1..].trim_start_matches('#').len();
                if rest[1 + hashes..].starts_with('"') {
                    at = At::Raw(hashes);
                    step = hashes + 2;
                }
            }
            At::Code if c == '\'' => step = length_of_char(rest),
            At::Text if c == '\\' && !rest[1..].starts_with('\n') => {
                step = 1 + rest[1..].chars().next().map_or(0, char::len_utf8)
            }
            At::Text if c == '"' => at = At::Code,
            At::Raw(hashes) if c == '"' && rest[1..].starts_with(&"#".repeat(hashes)) => {
                at = At::Code;
                step = 1 + hashes;
            }
            At::Block if rest.starts_with("*/") => {
                at = At::Code;
                step = 2;
            }
            _ => {}
        }
        if matches!(at, At::Line | At::Block) {
            found.last_mut().expect("it begins with one").get_or_insert_with(String::new).push_str(&rest[..step]);
        }
        rest = &rest[step..];
    }
    found
}

/// How long the character literal is that `rest` begins with; a lifetime is one quote.
fn length_of_char(rest: &str) -> usize {
    let mut chars = rest.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let after = at + escaped.len_utf8();
            rest[after..].find('\'').map_or(1, |end| after + end + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Per line of Python its comment, or its part of a docstring.
fn comments_of_python(text: &str) -> Vec<Option<String>> {
    let mut found = Vec::new();
    // The quotes of the string that the last line left open, and whether it is a docstring.
    let mut open: Option<(&str, bool)> = None;
    for line in text.lines() {
        let mut comment: Option<String> = open.filter(|(_, is_doc)| *is_doc).map(|_| String::new());
        let first = line.len() - line.trim_start_matches([' ', 'r']).len();
        let mut at = 0;
        while at < line.len() {
            let rest = &line[at..];
            let step = rest.chars().next().map_or(1, char::len_utf8);
            if let Some((quotes, is_doc)) = open {
                if rest.starts_with(quotes) {
                    open = None;
                    at += quotes.len();
                    continue;
                }
                let step = if rest.starts_with('\\') { rest.chars().take(2).map(char::len_utf8).sum() } else { step };
                if let Some(comment) = comment.as_mut().filter(|_| is_doc) {
                    comment.push_str(&rest[..step]);
                }
                at += step;
            } else if let Some(quotes) =
                ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quotes| rest.starts_with(quotes))
            {
                let is_doc = quotes == "\"\"\"" && at == first;
                open = Some((quotes, is_doc));
                comment = if is_doc { Some(String::new()) } else { comment };
                at += quotes.len();
            } else if rest.starts_with('#') {
                comment.get_or_insert_with(String::new).push_str(rest);
                break;
            } else {
                at += step;
            }
        }
        // a string of one quote ends with its line, unless a backslash ends that
        open = open.filter(|(quotes, _)| quotes.len() == 3 || line.ends_with('\\'));
        found.push(comment);
    }
    found
}

/// The refused words of a file; notes which exemptions excused one.
fn refused(path: &str, kind: Kind, lines: &[Prose], used: &mut [bool]) -> Findings {
    let mut findings = Findings::new();
    let is_quote = |line: &Prose| path.starts_with(QUOTING) && line.text.trim_start().starts_with('>');
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !is_quote(line)) {
        // A phrase may go over the end of a line.
        let beside = |at: Option<usize>, number: usize| {
            let other = at.and_then(|at| lines.get(at)).filter(|other| other.number == number);
            other.map_or("", |other| other.text.trim_start_matches([' ', '/', '!', '#', '*']).trim_end())
        };
        let before = beside(index.checked_sub(1), line.number.wrapping_sub(1));
        let text = line.text.trim_start_matches([' ', '/', '!', '#', '*']).trim_end();
        let whole = [before, text, beside(Some(index + 1), line.number + 1)].join(" ").to_lowercase();
        let begin = before.to_lowercase().len() + 1;
        let end = begin + text.to_lowercase().len();
        for rule in RULES.iter().filter(|rule| kind != Kind::Page || !rule.in_code_only) {
            for (word, at) in rule.words.iter().flat_map(|word| places(&whole, word).map(move |at| (word, at))) {
                if (begin..end).contains(&at) && !is_exempt(path, &whole, at, word.len(), used) {
                    findings.push(format!("{path}:{}: \"{word}\"; write instead: {}", line.number, rule.instead));
                }
            }
        }
    }
    findings
}

/// Where `word` stands in `text` as a word of prose: not as a part of an identifier or of a path.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/');
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let mut after = text[at + word.len()..].chars();
        let next = after.next();
        let is_path = matches!(next, Some('.' | ':')) && after.next().is_some_and(|c| c.is_alphanumeric() || c == ':');
        !is_path && !text[..at].ends_with(is_part) && !text[..at].ends_with("::") && !next.is_some_and(is_part)
    })
}

/// Whether the word at a place stands within a phrase of EXEMPTIONS.
fn is_exempt(path: &str, text: &str, at: usize, length: usize, used: &mut [bool]) -> bool {
    let mut is_exempt = false;
    for (exemption, used) in EXEMPTIONS.iter().zip(used) {
        let phrase = exemption.phrase.to_lowercase();
        let covers = |start: usize| start <= at && at + length <= start + phrase.len();
        if path.starts_with(exemption.path) && places(text, &phrase).any(covers) {
            *used = true;
            is_exempt = true;
        }
    }
    is_exempt
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words refused in a text, each with its line.
    fn found(path: &str, text: &str) -> Vec<(usize, String)> {
        let kind = Kind::of(path).unwrap();
        let findings = refused(path, kind, &prose(kind, text), &mut vec![false; EXEMPTIONS.len()]);
        let parts = findings.iter().map(|finding| {
            let mut parts = finding.strip_prefix(path).unwrap().splitn(3, ':');
            let number = parts.nth(1).unwrap().parse().unwrap();
            (number, parts.next().unwrap().split('"').nth(1).unwrap().to_owned())
        });
        parts.collect()
    }

    fn words_found(path: &str, text: &str) -> Vec<String> {
        found(path, text).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn a_refused_word_is_named_with_its_line_and_what_to_write_instead() {
        let text = "fn f() {}\n/// Whoever is first.\nlet x = 1; // drawn anew\n";
        assert_eq!(found("a.rs", text), [(2, "whoever".to_owned()), (3, "drawn".to_owned())]);
        let lines = prose(Kind::Braces, "// dearest\n");
        let findings = refused("a.rs", Kind::Braces, &lines, &mut vec![false; EXEMPTIONS.len()]);
        assert_eq!(findings, ["a.rs:1: \"dearest\"; write instead: most expensive"]);
    }

    #[test]
    fn every_rule_refuses_each_of_its_words_and_only_whole_words() {
        for word in RULES.iter().flat_map(|rule| rule.words) {
            assert_eq!(words_found("a.rs", &format!("// It is {word}, so.\n")), [*word]);
            assert_eq!(
                words_found("a.rs", &format!("// It is a{word}, {word}_x, {word}.rs, x/{word}, {word}::x.\n")),
                [""; 0]
            );
        }
    }

    #[test]
    fn code_text_and_backticks_are_no_prose() {
        assert_eq!(words_found("a.rs", "let law = \"// who\"; // `who` and `law`\n"), [""; 0]);
        assert_eq!(words_found("a.rs", "let a = r#\"\"// who\"#; let b = '\"'; // law\n"), ["law"]);
        assert_eq!(words_found("a.rs", "fn f<'a>(x: &'a str) {} // law\nlet a = \"\n// who\";\n"), ["law"]);
        assert_eq!(words_found("a.rs", "/// ```\n/// law\n/// ```\n/// world\n"), ["world"]);
        assert_eq!(words_found("a.h", "/* nobody\n * law */ int law; /* \"who */\n"), ["nobody", "who", "law"]);
        assert_eq!(words_found("a.md", "`law` [law](law.md) \u{201c}law\u{201d}\n```\nlaw\n```\n"), ["law"]);
    }

    #[test]
    fn comments_and_docstrings_of_python_are_prose_and_other_text_is_not() {
        assert_eq!(
            words_found("a.py", "\"\"\"The law.\n\nThe world.\n\"\"\"\nlaw = 'who'  # drawn\n"),
            ["law", "world", "drawn"]
        );
        assert_eq!(words_found("a.py", "text = \"\"\"\n# law\nwho\n\"\"\"\nx = \"# law\"\n"), [""; 0]);
        assert_eq!(words_found("a.py", "def f():\n    r\"\"\"A law.\n\n    >>> world\n    \"\"\"\n"), ["law"]);
    }

    #[test]
    fn pages_may_speak_of_people_and_papers_may_quote() {
        assert_eq!(words_found("a.md", "Who reads this? Nobody.\n"), ["nobody"]);
        assert_eq!(words_found("papers/a.md", "> nobody\n\nnobody\n"), ["nobody"]);
        assert_eq!(words_found("docs/a.md", "> nobody\n"), ["nobody"]);
    }

    #[test]
    fn a_phrase_may_go_over_the_end_of_a_line() {
        assert_eq!(found("a.rs", "// It has so\n// many packets.\n"), [(1, "so many".to_owned())]);
        assert_eq!(words_found("a.rs", "// The control\n// law of CoDel.\n"), [""; 0]);
        assert_eq!(words_found("a.rs", "// so\nlet x = 1;\n// many\n"), [""; 0]);
    }

    #[test]
    fn an_exemption_excuses_its_phrase_alone_and_is_noted_as_used() {
        let mut used = vec![false; EXEMPTIONS.len()];
        let lines = prose(Kind::Braces, "// The control law is a law.\n");
        assert_eq!(refused("a.rs", Kind::Braces, &lines, &mut used).len(), 1);
        assert!(used[0] && !used[1]);
        assert_eq!(words_found("a.rs", "// Little's law holds.\n"), [""; 0]);
    }

    #[test]
    fn exemptions_are_few_have_a_reason_and_hold_a_refused_word() {
        assert!(EXEMPTIONS.len() <= EXEMPTIONS_MAX);
        for exemption in EXEMPTIONS {
            assert!(!exemption.reason.is_empty(), "{}", exemption.phrase);
            let phrase = exemption.phrase.to_lowercase();
            let mut words = RULES.iter().flat_map(|rule| rule.words);
            assert!(words.any(|word| places(&phrase, word).next().is_some()), "{phrase}");
        }
    }

    #[test]
    fn the_number_of_wide_lines_may_neither_rise_nor_fall_unwritten() {
        assert_eq!(width_finding(7, 7), None);
        assert!(width_finding(6, 7).unwrap().ends_with("write 6"));
        assert!(width_finding(8, 7).unwrap().contains("8 lines"));
    }

    #[test]
    fn wide_are_lines_of_prose_and_not_rows_or_code() {
        let wide = "x".repeat(WIDTH_MAX);
        let count = |kind, text: &str| prose(kind, text).iter().filter(|line| line.is_wide).count();
        assert_eq!(count(Kind::Braces, &format!("// {wide}\nlet {wide}\n//! | {wide} |\n")), 1);
        assert_eq!(count(Kind::Page, &format!("{wide}\n{wide}y\n| {wide} |\n```\n{wide}y\n```\n")), 1);
        assert_eq!(count(Kind::Python, &format!("# {wide}\n{wide} = 1\n\"\"\"{wide}\"\"\"\n")), 2);
    }
}
