use super::*;
use serde_json::json;

fn names() -> Vec<(String, Value)> {
    let labels = [
        ("rate", json!("10 Mbit/s")),
        ("rtt", json!("20 ms")),
        ("buffer", json!("40 packets")),
        ("queue", json!("fifo")),
        ("n", json!(7)),
        ("on", json!(true)),
    ];
    labels.map(|(name, label)| (name.to_owned(), Value::of(&label))).to_vec()
}

fn value(text: &str) -> Json {
    Expression::read(text)
        .and_then(|read| read.evaluate(&names()))
        .map(|value| value.label())
        .unwrap_or_else(|why| why.into())
}

fn fault(text: &str) -> String {
    Expression::read(text).and_then(|read| read.evaluate(&names())).unwrap_err()
}

#[test]
fn the_names_of_an_expression_are_found_in_each_of_its_parts() {
    for text in
        ["x", "-x", "+x", "not x", "max(1, x)", "1 in [2, x]", "1 and x", "1 or x", "2 * x", "x ** 2", "1 < 2 < x"]
    {
        let read = Expression::read(text).unwrap();
        assert!(read.names("x") && !read.names("y"), "{text}");
    }
    for text in ["x if 1 else 2", "1 if x else 2", "1 if 0 else x"] {
        assert!(Expression::read(text).unwrap().names("x"), "{text}");
    }
    assert!(!Expression::read("'x' == max(1, 2)").unwrap().names("x"));
}

/// Computed by Python 3.11.
#[test]
fn an_expression_is_what_python_computes() {
    for (text, expected) in [
        ("ceil(rate * rtt / 8 / 1500)", json!(17)),
        ("rtt * 2", json!(0.04)),
        ("buffer // 3", json!(13)),
        ("-7 // 2", json!(-4)),
        ("7 // -2", json!(-4)),
        ("-7 // -2", json!(3)),
        ("-7 % 3", json!(2)),
        ("7 % -3", json!(-2)),
        ("-7.5 // 2", json!(-4.0)),
        ("-7.5 % 2", json!(0.5)),
        ("7.5 % -2", json!(-0.5)),
        ("6 / 3", json!(2.0)),
        ("-2 ** 2", json!(-4)),
        ("2 ** -1", json!(0.5)),
        ("2 ** 3 ** 2", json!(512)),
        ("2 ** 62", json!(4_611_686_018_427_387_904_i64)),
        ("1e20 * 10", json!(1e21)),
        ("round(2.5)", json!(2)),
        ("round(3.5)", json!(4)),
        ("round(2.567, 2)", json!(2.57)),
        ("round(1234, -2)", json!(1200)),
        ("round(1250, -2)", json!(1200)),
        ("round(1350, -2)", json!(1400)),
        ("round(-1250, -2)", json!(-1200)),
        ("round(1234.5, -2)", json!(1200.0)),
        ("floor(-0.5)", json!(-1)),
        ("log2(8)", json!(3.0)),
        ("log(8, 2)", json!(3.0)),
        ("max(1, 2.5, n)", json!(7)),
        ("min([3, 1, 2])", json!(1)),
        ("sqrt(3)", json!(1.732_050_807_57)),
        ("1 / 3", json!(0.333_333_333_333)),
        ("queue == 'fifo'", json!(true)),
        ("queue in ('fq', \"fifo\")", json!(true)),
        ("queue not in ['fq']", json!(true)),
        ("rtt <= '20 ms' < 1", json!(true)),
        ("rtt in ('20 ms', '40 ms')", json!(true)),
        ("1 < n <= 7 and not on", json!(false)),
        ("on + 1", json!(2)),
        ("on or 1 / 0", json!(true)),
        ("3 if queue == 'fq' else 4", json!(4)),
        ("1 if on else 1 / 0", json!(1)),
        ("'a' if n > 7 else 'b'", json!("b")),
        ("1_000 + 1.5e-3", json!(1000.0015)),
        ("((n))", json!(7)),
        ("queue < 'fq'", json!(true)),
        ("buffer == 40.0", json!(true)),
        ("True", json!(true)),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn what_is_no_arithmetic_is_said() {
    for (text, said) in [
        ("1 / 0", "'1 / 0': division by zero"),
        ("queue * 2", "'fifo' is no number; a text can only be compared"),
        ("rt + 1", "rt: no such axis or derived value; did you mean rtt?"),
        ("__import__('os')", "no such function; there are abs, ceil"),
        ("1 +", "'1 +' is no expression: it ends too early"),
        ("(1, 2)", "'(1, 2)' is no number or text"),
        ("n.real", "only arithmetic, comparisons and abs, ceil"),
        ("1e300 * 1e300", "not a finite number"),
        ("log(0)", "0 has no logarithm"),
        ("exp(1e3) < 0", "'exp(1e3) < 0': exp of 1000 is too great"),
        ("1e300 ** 2 < 0", "the power is too great"),
        ("queue < 3", "a text and a number have no order"),
        ("1 if on", "else is missing"),
        ("", "it ends too early"),
        ("n n", "only arithmetic"),
    ] {
        let found = fault(text);
        assert!(found.contains(said), "{text}: {found}");
    }
}

#[test]
fn whole_numbers_rounding_and_depth_have_bounds() {
    let texts = [
        "round(5, -100000000)".to_owned(),
        "round(5.5, 100000000)".to_owned(),
        "9".repeat(900),
        "10 ** 64".to_owned(),
        "10 ** 100".to_owned(),
        "(10 ** 9) ** 60 * (10 ** 9) ** 60".to_owned(),
        ["999999"; 140].join("*"),
        "max(2, 3) ** 64 * 99".to_owned(),
        "-(2 ** 63) - 1".to_owned(),
        "n * ".repeat(300) + "n",
        "(".repeat(400) + "1" + &")".repeat(400),
        "[".repeat(400) + "1" + &"]".repeat(400),
        "-".repeat(900) + "1",
        "not ".repeat(200) + "1",
        "abs(".repeat(200) + "1" + &")".repeat(200),
    ];
    for text in texts {
        let found = fault(&text);
        assert!(!found.contains('\n') && found.len() < 1200, "{text}: {found}");
    }
}
