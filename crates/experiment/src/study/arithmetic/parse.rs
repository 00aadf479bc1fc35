//! From the text of an expression to its parts, by recursive descent: a function for each level of
//! Python's operators, the weakest first.

use super::functions::{Function, NAMES};
use super::{Node, Operator, Part, Relation, Value, WHOLE_MAX};
use fairq_text::near_miss;

/// The longest expression in characters.
const LENGTH_MAX: usize = 1000;
/// The deepest nesting of brackets and signs.
const DEPTH_MAX: usize = 100;

/// The parts of an expression.
pub(super) fn read(text: &str) -> Result<Part, String> {
    if text.chars().count() > LENGTH_MAX {
        return Err(format!("an expression has at most {LENGTH_MAX} characters"));
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let part = parser.list_or_one()?;
    parser.spaces();
    match parser.rest() {
        "" => Ok(part),
        rest => {
            parser.fault(&format!("only arithmetic, comparisons and {} are allowed, not `{rest}`", NAMES.join(", ")))
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn fault<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("'{}' is no expression: {why}", self.text))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn spaces(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Whether a sign comes next, which is then read. The longer ones are asked for first.
    fn sign(&mut self, sign: &str) -> bool {
        self.spaces();
        let is_next = self.rest().starts_with(sign);
        self.at += if is_next { sign.len() } else { 0 };
        is_next
    }

    /// The name that comes next, without reading it.
    fn name(&mut self) -> &'a str {
        self.spaces();
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        if rest.starts_with(|c: char| c.is_ascii_digit()) { "" } else { &rest[..end] }
    }

    fn word(&mut self, word: &str) -> bool {
        let is_next = self.name() == word;
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn part(&self, from: usize, node: Node) -> Part {
        Part { node, from, to: self.at }
    }

    fn start(&mut self) -> usize {
        self.spaces();
        self.at
    }

    /// What stands in brackets, or the whole: one value, or several with commas.
    fn list_or_one(&mut self) -> Result<Part, String> {
        let from = self.start();
        let first = self.choice()?;
        if !self.sign(",") {
            return Ok(first);
        }
        let mut items = vec![first];
        items.extend(self.items()?);
        Ok(self.part(from, Node::List(items)))
    }

    /// Values with commas between them, up to a bracket that closes.
    fn items(&mut self) -> Result<Vec<Part>, String> {
        let mut items = Vec::new();
        loop {
            self.spaces();
            if self.rest().is_empty() || self.rest().starts_with([')', ']']) {
                return Ok(items);
            }
            items.push(self.choice()?);
            if !self.sign(",") {
                return Ok(items);
            }
        }
    }

    fn choice(&mut self) -> Result<Part, String> {
        let from = self.start();
        let then = self.any()?;
        if !self.word("if") {
            return Ok(then);
        }
        let test = self.any()?;
        if !self.word("else") {
            return self.fault("else is missing");
        }
        let other = self.nested(Self::choice)?;
        Ok(self.part(from, Node::If { test: test.into(), then: then.into(), other: other.into() }))
    }

    fn any(&mut self) -> Result<Part, String> {
        self.joined("or", Self::all, Node::Any)
    }

    fn all(&mut self) -> Result<Part, String> {
        self.joined("and", Self::not, Node::All)
    }

    /// Parts with `word` between them, as a node if there are several.
    fn joined(
        &mut self,
        word: &str,
        next: fn(&mut Self) -> Result<Part, String>,
        node: fn(Vec<Part>) -> Node,
    ) -> Result<Part, String> {
        let from = self.start();
        let mut parts = vec![next(self)?];
        while self.word(word) {
            parts.push(next(self)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { self.part(from, node(parts)) })
    }

    fn not(&mut self) -> Result<Part, String> {
        let from = self.start();
        if !self.word("not") {
            return self.comparison();
        }
        let of = self.nested(Self::not)?;
        Ok(self.part(from, Node::Not(of.into())))
    }

    fn comparison(&mut self) -> Result<Part, String> {
        let from = self.start();
        let first = self.sum()?;
        let mut others = Vec::new();
        while let Some(relation) = self.relation() {
            others.push((relation, self.sum()?));
        }
        Ok(if others.is_empty() { first } else { self.part(from, Node::Compare(first.into(), others)) })
    }

    fn relation(&mut self) -> Option<Relation> {
        let signs = [
            ("==", Relation::Equal),
            ("!=", Relation::NotEqual),
            ("<=", Relation::LessOrEqual),
            (">=", Relation::GreaterOrEqual),
            ("<", Relation::Less),
            (">", Relation::Greater),
        ];
        if let Some((_, relation)) = signs.into_iter().find(|(sign, _)| self.sign(sign)) {
            return Some(relation);
        }
        let before = self.at;
        if self.word("in") {
            return Some(Relation::In);
        }
        if self.word("not") && self.word("in") {
            return Some(Relation::NotIn);
        }
        self.at = before;
        None
    }

    fn sum(&mut self) -> Result<Part, String> {
        self.chain(&[("+", Operator::Add), ("-", Operator::Subtract)], Self::product)
    }

    fn product(&mut self) -> Result<Part, String> {
        let signs = [
            ("//", Operator::DivideWhole),
            ("/", Operator::Divide),
            ("%", Operator::Remainder),
            ("*", Operator::Multiply),
        ];
        self.chain(&signs, Self::signed)
    }

    /// Parts of the next level between operators of one level, from the left.
    fn chain(
        &mut self,
        signs: &[(&str, Operator)],
        next: fn(&mut Self) -> Result<Part, String>,
    ) -> Result<Part, String> {
        let from = self.start();
        let mut left = next(self)?;
        loop {
            self.spaces();
            // A power binds its own operands.
            let found = signs.iter().find(|(sign, _)| !self.rest().starts_with("**") && self.sign(sign));
            let Some((_, operator)) = found else { return Ok(left) };
            let right = next(self)?;
            left = self.part(from, Node::Binary(*operator, left.into(), right.into()));
        }
    }

    fn signed(&mut self) -> Result<Part, String> {
        let from = self.start();
        if self.sign("-") {
            let of = self.nested(Self::signed)?;
            return Ok(self.part(from, Node::Negative(of.into())));
        }
        if self.sign("+") {
            let of = self.nested(Self::signed)?;
            return Ok(self.part(from, Node::Positive(of.into())));
        }
        let base = self.atom()?;
        if !self.sign("**") {
            return Ok(base);
        }
        let exponent = self.nested(Self::signed)?;
        Ok(self.part(from, Node::Binary(Operator::Power, base.into(), exponent.into())))
    }

    /// A part within another, not too deep.
    fn nested<T>(&mut self, read: fn(&mut Self) -> Result<T, String>) -> Result<T, String> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return self.fault(&format!("its parts stand more than {DEPTH_MAX} deep in each other"));
        }
        let part = read(self);
        self.depth -= 1;
        part
    }

    fn atom(&mut self) -> Result<Part, String> {
        let from = self.start();
        for (open, close) in [("(", ")"), ("[", "]")] {
            if self.sign(open) {
                return self.bracketed(from, open, close);
            }
        }
        match self.rest().chars().next() {
            None => self.fault("it ends too early"),
            Some(quote @ ('\'' | '"')) => self.quoted(from, quote),
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(from),
            Some(_) => self.named(from),
        }
    }

    fn bracketed(&mut self, from: usize, open: &str, close: &str) -> Result<Part, String> {
        self.spaces();
        if open == "[" || self.rest().starts_with(')') {
            let items = self.closed(close, Self::items)?;
            return Ok(self.part(from, Node::List(items)));
        }
        let inside = self.closed(close, Self::list_or_one)?;
        Ok(Part { from, to: self.at, ..inside })
    }

    /// What stands in a bracket that was opened, up to the one that closes it.
    fn closed<T>(&mut self, close: &str, read: fn(&mut Self) -> Result<T, String>) -> Result<T, String> {
        let inside = self.nested(read)?;
        if self.sign(close) { Ok(inside) } else { self.fault(&format!("`{close}` is missing")) }
    }

    fn quoted(&mut self, from: usize, quote: char) -> Result<Part, String> {
        let inside = &self.rest()[1..];
        let Some(end) = inside.find(quote) else { return self.fault(&format!("{quote} is missing")) };
        self.at += end + 2;
        Ok(self.part(from, Node::Constant(Value::Text(inside[..end].to_owned()))))
    }

    fn number(&mut self, from: usize) -> Result<Part, String> {
        let rest = self.rest();
        let mut before = ' ';
        let end = rest.find(|c: char| {
            let is_sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E');
            before = c;
            !(c.is_ascii_alphanumeric() || c == '.' || c == '_' || is_sign)
        });
        let written = &rest[..end.unwrap_or(rest.len())];
        self.at += written.len();
        let digits = written.replace('_', "");
        let value = if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            let too_great = || format!("a whole number is at most {WHOLE_MAX}; write a float, as 1e20");
            Value::Whole(digits.parse::<i64>().map_err(|_| too_great())?)
        } else {
            digits.parse().map(Value::Real).or_else(|_| self.fault(&format!("{written} is no number")))?
        };
        Ok(self.part(from, Node::Constant(value)))
    }

    fn named(&mut self, from: usize) -> Result<Part, String> {
        let name = self.name();
        let is_word = ["and", "or", "not", "if", "else", "in"].contains(&name);
        if name.is_empty() || is_word {
            let rest: String = self.rest().chars().take(20).collect();
            return self.fault(&format!("a value is missing before `{rest}`"));
        }
        self.at += name.len();
        if self.sign("(") {
            let function =
                Function::by_name(name).ok_or_else(|| format!("{name}: no such function{}", near_miss(name, NAMES)))?;
            let given = self.closed(")", Self::items)?;
            return Ok(self.part(from, Node::Call(function, given)));
        }
        let node = match name {
            "True" => Node::Constant(Value::Truth(true)),
            "False" => Node::Constant(Value::Truth(false)),
            _ => Node::Name(name.to_owned()),
        };
        Ok(self.part(from, node))
    }
}
