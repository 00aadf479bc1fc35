//! From the text of a filter to its terms.

use super::{Direction, End, Filter, Joint, Network, Protocol, Term, Value};
use fairq_text::near_miss;
use std::net::IpAddr;

const JOINTS: [(&str, Joint); 4] = [("and", Joint::And), ("&&", Joint::And), ("or", Joint::Or), ("||", Joint::Or)];
const WAYS: [(&str, Direction); 2] = [("down", Direction::Down), ("up", Direction::Up)];
const PROTOCOLS: [(&str, Protocol); 6] = [
    ("ip", Protocol::Ip),
    ("ip6", Protocol::Ip6),
    ("tcp", Protocol::Tcp),
    ("udp", Protocol::Udp),
    ("icmp", Protocol::Icmp),
    ("icmp6", Protocol::Icmp6),
];
const ENDS: [(&str, End); 2] = [("src", End::Source), ("dst", End::Destination)];
const KINDS: [(&str, Kind); 3] = [("host", Kind::Host), ("net", Kind::Net), ("port", Kind::Port)];
/// The words with which a term begins.
const FIRST: [&str; 14] =
    ["not", "up", "down", "ip", "ip6", "tcp", "udp", "icmp", "icmp6", "src", "dst", "host", "net", "port"];
/// The words behind a protocol.
const SECOND: [&str; 7] = ["and", "or", "src", "dst", "host", "net", "port"];
const EXAMPLE: &str = "write a filter as `udp and not port 53`";

/// Deepest nesting of brackets and of `not`.
const DEPTH_MAX: usize = 50;

/// A kind of value.
#[derive(Clone, Copy)]
enum Kind {
    Host,
    Net,
    Port,
}

/// The words before a value.
#[derive(Clone, Copy)]
struct Qualifiers {
    protocol: Option<Protocol>,
    end: Option<End>,
    kind: Kind,
}

struct Parser<'a> {
    /// Each with the place of its first letter, from 1.
    words: Vec<(usize, &'a str)>,
    /// The present word.
    at: usize,
    /// The qualifiers of the last value.
    before: Option<Qualifiers>,
    asks_direction: bool,
}

impl Filter {
    /// Reads an expression.
    ///
    /// # Errors
    /// The place, what is wrong there, and what to write instead.
    pub fn read(text: &str) -> Result<Self, String> {
        let words = words_of(text);
        if words.is_empty() {
            return Err(format!("is empty; {EXAMPLE}"));
        }
        let mut parser = Parser { words, at: 0, before: None, asks_direction: false };
        let term = parser.joined(0)?;
        if parser.present().is_some() {
            return Err(parser.unknown(&["and", "or"]));
        }
        Ok(Self { text: text.trim().to_owned(), term, asks_direction: parser.asks_direction })
    }
}

/// The words of a text; brackets and `!` are words wherever they stand.
fn words_of(text: &str) -> Vec<(usize, &str)> {
    let mut words = Vec::new();
    let (mut begin, mut place) = (0, 1);
    for (at, (byte, letter)) in text.char_indices().chain([(text.len(), ' ')]).enumerate() {
        let is_word = "()!".contains(letter);
        if !is_word && !letter.is_whitespace() {
            continue;
        }
        if begin < byte {
            words.push((place, &text[begin..byte]));
        }
        if is_word {
            words.push((at + 1, &text[byte..=byte]));
        }
        (begin, place) = (byte + letter.len_utf8(), at + 2);
    }
    words
}

impl<'a> Parser<'a> {
    fn present(&self) -> Option<&'a str> {
        self.words.get(self.at).map(|(_, word)| *word)
    }

    /// Goes past the present word if `known` has it.
    fn take<T: Copy>(&mut self, known: &[(&str, T)]) -> Option<T> {
        let word = self.present()?;
        let (_, found) = known.iter().find(|(name, _)| *name == word)?;
        self.at += 1;
        Some(*found)
    }

    fn joined(&mut self, depth: usize) -> Result<Term, String> {
        let first = self.term(depth)?;
        let mut others = Vec::new();
        while let Some(joint) = self.take(&JOINTS) {
            others.push((joint, self.term(depth)?));
        }
        Ok(if others.is_empty() { first } else { Term::Joined(Box::new(first), others) })
    }

    fn term(&mut self, depth: usize) -> Result<Term, String> {
        if depth > DEPTH_MAX {
            return Err(self.fault(&format!("is in more than {DEPTH_MAX} brackets or `not`; write fewer")));
        }
        let begin = self.at;
        if self.take(&[("not", ()), ("!", ())]).is_some() {
            return self.term(depth + 1).map(|term| Term::Not(Box::new(term)));
        }
        if self.take(&[("(", ())]).is_some() {
            let inner = self.joined(depth + 1)?;
            if self.take(&[(")", ())]).is_none() {
                if self.present().is_some() {
                    return Err(self.unknown(&["and", "or", ")"]));
                }
                self.at = begin;
                return Err(self.fault("is not closed; write ) behind what it holds"));
            }
            return Ok(inner);
        }
        if let Some(way) = self.take(&WAYS) {
            self.asks_direction = true;
            return Ok(Term::Way(way));
        }
        let (protocol, end, kind) = (self.take(&PROTOCOLS), self.take(&ENDS), self.take(&KINDS));
        let is_over = self.present().is_none_or(|word| word == ")" || JOINTS.iter().any(|(joint, _)| *joint == word));
        if let (Some(protocol), None, None, true) = (protocol, end, kind, is_over) {
            return Ok(Term::Protocol(protocol));
        }
        let mut qualifiers = Qualifiers { protocol, end, kind: kind.unwrap_or(Kind::Host) };
        if end.is_none() && kind.is_none() && !self.present().is_some_and(is_value) {
            return Err(self.unknown(if protocol.is_none() { &FIRST } else { &SECOND }));
        }
        if self.at == begin {
            qualifiers = self.before.unwrap_or(qualifiers);
        }
        let value = Term::Value(qualifiers.end, self.value(qualifiers.kind)?);
        self.before = Some(qualifiers);
        Ok(match qualifiers.protocol {
            Some(protocol) => Term::Joined(Box::new(Term::Protocol(protocol)), vec![(Joint::And, value)]),
            None => value,
        })
    }

    fn value(&mut self, kind: Kind) -> Result<Value, String> {
        let word = self.present().unwrap_or_default();
        let address = word.parse::<IpAddr>().ok();
        let found = match kind {
            Kind::Host => address.map(|address| Value::Network(Network::one(address))),
            Kind::Net => network(word).ok().map(Value::Network),
            Kind::Port => word.parse().ok().map(Value::Port),
        };
        if let Some(value) = found {
            self.at += 1;
            return Ok(value);
        }
        let instead = match (kind, address, network(word)) {
            (Kind::Port, Some(_), _) => format!("is an address; write `host {word}`"),
            (Kind::Host, None, _) if word.parse::<u16>().is_ok() => format!("is a number; write `port {word}`"),
            (Kind::Host | Kind::Port, None, Ok(network)) if word.contains('/') => {
                format!("is a network; write `net {network}`")
            }
            (Kind::Host, ..) => "is no address; write its number, as `host 192.168.1.7`".to_owned(),
            (Kind::Net, _, Err(fault)) => format!("is no network: {fault}"),
            (Kind::Net | Kind::Port, ..) => "is no port; write its number, as `port 443`".to_owned(),
        };
        Err(self.fault(&instead))
    }

    /// The fault that the present word is none of `known`.
    fn unknown(&self, known: &[&str]) -> String {
        let near = near_miss(self.present().unwrap_or_default(), known.iter().copied());
        self.fault(&format!("is not understood{near}"))
    }

    /// A fault of the present word, or of the end of the text.
    fn fault(&self, what: &str) -> String {
        match self.words.get(self.at) {
            Some((place, word)) => format!("at letter {place}, `{word}` {what}"),
            None => {
                let (place, word) = self.words[self.words.len() - 1];
                format!("behind `{word}` at letter {place} more is needed; {EXAMPLE}")
            }
        }
    }
}

/// Whether it may be a value without a word before it.
fn is_value(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_ascii_digit()) || word.contains(':')
}

/// A network, also as the first numbers of its addresses: `net 192.168`.
fn network(word: &str) -> Result<Network, String> {
    let numbers = word.split('.').map(str::parse::<u8>).collect::<Result<Vec<_>, _>>().unwrap_or_default();
    match numbers.len() {
        given @ 1..=3 => Network::read(&format!("{word}{}/{}", ".0".repeat(4 - given), 8 * given)),
        _ => Network::read(word),
    }
}
