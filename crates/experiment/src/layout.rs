//! Text in lines of a terminal's width.

/// Below this width a meaning always stands below its value.
const NARROW: usize = 72;

/// Appends `words` in lines of at most `width` columns, those after the first behind `indent`. A
/// word that is longer than a line has a line of its own.
pub(crate) fn paragraph(text: &mut String, indent: &str, words: &str, width: usize) {
    flow(text, 0, indent.len(), words, width);
}

/// Appends a numbered line of a list; its further lines stand under its first word.
pub(crate) fn item(text: &mut String, number: usize, words: &str, width: usize) {
    let start = format!("  {number}. ");
    text.push_str(&start);
    flow(text, start.len(), start.len(), words, width);
}

/// Appends a setting, as `name = value`, and its meaning from `column` on: beside it, or below where
/// there is no room.
pub(crate) fn row(text: &mut String, given: &str, meaning: &str, column: usize, width: usize) {
    text.push_str("  ");
    text.push_str(given);
    let end = 2 + given.chars().count();
    let (column, is_beside) = if width < NARROW { (6, false) } else { (column, end < column) };
    if meaning.is_empty() {
        text.push('\n');
        return;
    }
    if !is_beside {
        text.push('\n');
    }
    text.push_str(&" ".repeat(if is_beside { column - end } else { column }));
    flow(text, column, column, meaning, width);
}

/// Appends `words` from `column` on, and ends the last line.
fn flow(text: &mut String, mut column: usize, indent: usize, words: &str, width: usize) {
    let mut is_first = true;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if !is_first && column + 1 + length > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if !is_first {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
        is_first = false;
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_breaks_between_words_and_is_indented_from_its_second_line_on() {
        let mut text = String::new();
        paragraph(&mut text, "  ", "one two three four incomprehensible five", 9);
        assert_eq!(text, "one two\n  three\n  four\n  incomprehensible\n  five\n");
    }

    #[test]
    fn an_item_of_a_list_begins_with_its_number_and_goes_on_beside_it() {
        let mut text = String::new();
        item(&mut text, 9, "one two three", 12);
        item(&mut text, 10, "one two three", 12);
        assert_eq!(text, "  9. one two\n     three\n  10. one\n      two\n      three\n");
    }

    #[test]
    fn a_meaning_stands_beside_its_value_or_below() {
        let mut text = String::new();
        row(&mut text, "a = 1", "What a is, in more words than one line has room for, so that there are two.", 31, 80);
        row(&mut text, "a_name = \"and a longer value\"", "Below.", 31, 80);
        row(&mut text, "a = 1", "Narrow.", 31, 40);
        assert_eq!(
            text,
            "  a = 1                        What a is, in more words than one line has room\n                               for, \
             so that there are two.\n  a_name = \"and a longer value\"\n                               Below.\n  a = 1\n      \
             Narrow.\n"
        );
    }
}
