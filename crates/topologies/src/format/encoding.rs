//! The encoding of a file: by its byte order mark, by its XML declaration (XML 1.0, 4.3.3 and
//! appendix F), else UTF-8.
//!
//! Names of encodings are those of the WHATWG's standard, in which ISO-8859-1 is read as
//! windows-1252: that has all its letters, and more where ISO-8859-1 has control characters. Text
//! that is not UTF-8 and names no encoding is read as windows-1252 too. This, and every letter that
//! is lost, is a warning.

use super::{Broken, shown};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

/// The greatest length of an XML declaration, in bytes.
const DECLARATION_MAX: usize = 1024;

/// The text of a file, and a warning if it may differ from what was written.
pub(super) fn text(bytes: &[u8]) -> Result<(String, Option<String>), Broken> {
    // The mark of UTF-32, whose first two bytes are those of UTF-16's.
    if bytes.starts_with(&[0xff, 0xfe, 0, 0]) || bytes.starts_with(&[0, 0, 0xfe, 0xff]) {
        return Err(unknown("UTF-32"));
    }
    if let Some((encoding, mark)) = Encoding::for_bom(bytes) {
        return Ok(decoded(encoding, &bytes[mark..]));
    }
    match bytes {
        [b'<', 0, ..] => return Ok(decoded(UTF_16LE, bytes)),
        [0, b'<', ..] => return Ok(decoded(UTF_16BE, bytes)),
        _ => {}
    }
    let Some(name) = declared(bytes) else {
        return Ok(match std::str::from_utf8(bytes) {
            Ok(text) => (text.to_string(), None),
            Err(error) => {
                let line = line(&bytes[..error.valid_up_to()]);
                let (text, _) = decoded(WINDOWS_1252, bytes);
                let warning =
                    format!("line {line} is not UTF-8 and no encoding is named; the file is read as windows-1252");
                (text, Some(warning))
            }
        });
    };
    let encoding = Encoding::for_label_no_replacement(name.as_bytes()).ok_or_else(|| unknown(&name))?;
    // A declaration in single bytes cannot be in UTF-16, whatever it says.
    if encoding == UTF_16LE || encoding == UTF_16BE {
        let (text, warning) = decoded(UTF_8, bytes);
        let said = format!("the file names {} as its encoding, which it is not; it is read as UTF-8", shown(&name));
        return Ok((text, warning.or(Some(said))));
    }
    Ok(decoded(encoding, bytes))
}

fn unknown(name: &str) -> Broken {
    Broken::at(1, format!("the encoding {} is not known here; save the file as UTF-8", shown(name)))
}

/// The number of the line after `before`.
fn line(before: &[u8]) -> usize {
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

fn decoded(encoding: &'static Encoding, bytes: &[u8]) -> (String, Option<String>) {
    let (text, is_damaged) = encoding.decode_without_bom_handling(bytes);
    let warning = is_damaged.then(|| {
        let before = text.split(char::REPLACEMENT_CHARACTER).next().unwrap_or_default();
        format!("letters that are not {} are lost, the first in line {}", encoding.name(), line(before.as_bytes()))
    });
    (text.into_owned(), warning)
}

/// The encoding that the XML declaration names.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(DECLARATION_MAX)]);
    let (declaration, _) = head.strip_prefix("<?xml")?.split_once("?>")?;
    let (_, named) = declaration.split_once("encoding")?;
    let quoted = named.trim_start().strip_prefix('=')?.trim_start();
    let quote = quoted.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let (name, _) = quoted[1..].split_once(quote)?;
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> (String, String) {
        let Ok((text, warning)) = text(bytes) else { panic!("{bytes:?} is text") };
        (text, warning.unwrap_or_default())
    }

    fn utf_16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(bytes).collect()
    }

    #[test]
    fn letters_are_those_of_the_mark_or_of_the_declaration() {
        let declared = |name: &str| format!("<?xml version='1.0' encoding = \"{name}\" ?>");
        let latin = [declared("ISO-8859-1").as_bytes(), b"M\xfcnchen"].concat();
        assert_eq!(read(&latin), (declared("ISO-8859-1") + "München", String::new()));
        let cyrillic = [declared("koi8-r").as_bytes(), b"\xed\xcf\xd3\xcb\xd7\xc1"].concat();
        assert_eq!(read(&cyrillic), (declared("koi8-r") + "Москва", String::new()));
        let japanese = [declared("Shift_JIS").as_bytes(), b"\x93\x8c\x8b\x9e"].concat();
        assert_eq!(read(&japanese), (declared("Shift_JIS") + "東京", String::new()));
        let text = declared("UTF-16") + "Köln";
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(read(&utf_16(&text, bytes)), (text.clone(), String::new()));
            assert_eq!(read(&utf_16(&format!("\u{feff}{text}"), bytes)), (text.clone(), String::new()));
        }
        // The mark wins over the declaration.
        let marked = format!("\u{feff}{}Köln", declared("ISO-8859-1"));
        assert_eq!(read(marked.as_bytes()), (declared("ISO-8859-1") + "Köln", String::new()));
        assert_eq!(read("graph [ label \"Köln\" ]".as_bytes()).1, "");
        assert_eq!(read(b""), (String::new(), String::new()));
    }

    #[test]
    fn a_letter_that_is_lost_or_guessed_is_a_warning_with_its_line() {
        let (text, warning) = read(b"from,to\nM\xfcnchen,K\xf6ln\n");
        assert_eq!(text, "from,to\nMünchen,Köln\n");
        assert_eq!(warning, "line 2 is not UTF-8 and no encoding is named; the file is read as windows-1252");
        let (text, warning) = read(b"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n\n<a>\xc3\xb6\xff</a>");
        assert!(text.ends_with("<a>\u{f6}\u{fffd}</a>"));
        assert_eq!(warning, "letters that are not UTF-8 are lost, the first in line 3");
        let (_, warning) = read(&[0xff, 0xfe, b'a', 0, b'\n', 0, 0x00, 0xd8]);
        assert_eq!(warning, "letters that are not UTF-16LE are lost, the first in line 2");
        let (text, warning) = read("<?xml version=\"1.0\" encoding=\"utf-16\"?>ö".as_bytes());
        assert!(text.ends_with('ö') && warning.contains("`utf-16`"), "{warning}");
    }

    #[test]
    fn an_unknown_encoding_is_refused() {
        for (bytes, name) in [
            (&b"<?xml version='1.0' encoding='UTF-7'?>"[..], "`UTF-7`"),
            (b"<?xml version='1.0' encoding='no such'?>", "`no such`"),
            (b"<?xml version='1.0' encoding=''?>", "``"),
            // Its decoder gives only a replacement character.
            (b"<?xml version='1.0' encoding='iso-2022-kr'?>", "`iso-2022-kr`"),
            (&[0xff, 0xfe, 0, 0, b'<', 0, 0, 0], "`UTF-32`"),
            (&[0, 0, 0xfe, 0xff, 0, 0, 0, b'<'], "`UTF-32`"),
        ] {
            let Err(broken) = text(bytes) else { panic!("{name} is known") };
            assert_eq!(broken.line, Some(1));
            assert_eq!(broken.message, format!("the encoding {name} is not known here; save the file as UTF-8"));
        }
    }
}
