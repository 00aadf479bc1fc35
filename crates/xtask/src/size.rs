//! The lines of the tree by room, and a budget for each: `cargo xtask size`.
//!
//! A room is a folder that a reader takes for one thing. What is generated has rooms of its own and
//! no budget: `.gitattributes` says what that is. A budget is the lines of a room rounded up to a
//! whole hundred, and stands in `limits/rooms.txt`; to write more, write the budget anew and say
//! why in the commit.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::tracked::{generated, tracked};
use crate::{Findings, functions};

const BUDGET: &str = "crates/xtask/limits/rooms.txt";

/// The unit of a budget.
const LINES: usize = 100;

/// How the name of a room begins in which everything is generated.
const GENERATED: &str = "generated: ";

/// Lines by room.
type Rooms = BTreeMap<String, usize>;

/// Prints the rooms; with `update` the budgets and the list of long functions are written anew.
pub(crate) fn size(root: &Path, update: bool) -> Findings {
    let (paths, rooms) = match tracked(root).and_then(|paths| Ok((rooms(root, &paths)?, paths))) {
        Ok((rooms, paths)) => (paths, rooms),
        Err(error) => return vec![error],
    };
    let mut findings = Findings::new();
    if update {
        let budgets = rooms.iter().filter(|(room, _)| !room.starts_with(GENERATED));
        let text: String = budgets.map(|(room, lines)| format!("{room} {}\n", budget(*lines))).collect();
        findings.extend(fs::write(root.join(BUDGET), text).err().map(|e| format!("{BUDGET}: cannot be written: {e}")));
        findings.extend(functions::update(root, &paths));
    }
    let known = read(root);
    for (room, lines) in &rooms {
        let most = known.get(room).map_or_else(|| "-".to_owned(), usize::to_string);
        println!("{lines:7}  of {most:>7}  {room}");
    }
    println!("{:7}  in all", rooms.values().sum::<usize>());
    findings.extend(over(&rooms, &known));
    findings
}

/// Rooms above their budgets, for tidy.
pub(crate) fn check(root: &Path, paths: &[String]) -> Findings {
    match rooms(root, paths) {
        Ok(rooms) => over(&rooms, &read(root)),
        Err(error) => vec![error],
    }
}

/// What is above its budget or has none, and budgets that are too large.
fn over(rooms: &Rooms, known: &Rooms) -> Findings {
    let told = |(room, lines): (&String, &usize)| match known.get(room) {
        Some(most) if lines > most => Some(format!(
            "{room}: {lines} lines, and its budget is {most}; take something out, or run cargo xtask size --update and say \
             in the commit why it grew"
        )),
        Some(most) if budget(*lines) + LINES < *most => {
            Some(format!("{room}: {lines} lines, far below its budget of {most}; run: cargo xtask size --update"))
        }
        Some(_) => None,
        None => Some(format!("{room}: {lines} lines without a budget; run: cargo xtask size --update")),
    };
    rooms.iter().filter(|(room, _)| !room.starts_with(GENERATED)).filter_map(told).collect()
}

/// The budget of a room of `lines` lines: above them, so that the next line has room.
const fn budget(lines: usize) -> usize {
    (lines / LINES + 1) * LINES
}

/// The committed budgets.
fn read(root: &Path) -> Rooms {
    let text = fs::read_to_string(root.join(BUDGET)).unwrap_or_default();
    let entry =
        |line: &str| line.rsplit_once(' ').and_then(|(room, lines)| Some((room.to_owned(), lines.parse().ok()?)));
    text.lines().filter_map(entry).collect()
}

/// The lines of all tracked text by room.
fn rooms(root: &Path, paths: &[String]) -> Result<Rooms, String> {
    let generated = generated(root, paths)?;
    let mut rooms = Rooms::new();
    for (path, is_generated) in paths.iter().zip(generated) {
        let place = root.join(path);
        if place.is_symlink() {
            continue;
        }
        // what is no text is data
        let Ok(text) = fs::read_to_string(place) else { continue };
        *rooms.entry(room(path, is_generated)).or_insert(0) += text.lines().count();
    }
    Ok(rooms)
}

/// The room of a file: its first folders, as many as tell one thing from another.
fn room(path: &str, is_generated: bool) -> String {
    let folders: Vec<&str> = path.split('/').collect();
    let depth = match folders[0] {
        "crates" if folders.get(2) == Some(&"src") => 2,
        "crates" | "python" | "tests" => 3,
        "docs" => 2,
        _ => 1,
    };
    let named = |depth: usize| match depth.min(folders.len() - 1) {
        0 => "files above all folders".to_owned(),
        _ if path.starts_with('.') => "files above all folders".to_owned(),
        depth => folders[..depth].join("/"),
    };
    if is_generated { format!("{GENERATED}{}", named(1)) } else { named(depth) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_in_the_room_of_its_folder() {
        assert_eq!(room("crates/sim/src/net/hop.rs", false), "crates/sim");
        assert_eq!(room("crates/sim/tests/a.rs", false), "crates/sim/tests");
        assert_eq!(room("python/fairq/questions/words.py", false), "python/fairq/questions");
        assert_eq!(room("python/fairq/api.py", false), "python/fairq");
        assert_eq!(room("docs/guide/a.md", false), "docs/guide");
        assert_eq!(room("README.md", false), "files above all folders");
        assert_eq!(room("schema/run.schema.json", true), "generated: schema");
    }

    #[test]
    fn a_room_above_its_budget_or_without_one_is_found() {
        let rooms = |lines| Rooms::from([("a".to_owned(), lines)]);
        assert_eq!(over(&rooms(200), &rooms(200)), [""; 0]);
        assert_eq!(over(&rooms(1), &rooms(200)), [""; 0]);
        assert!(over(&rooms(201), &rooms(200))[0].contains("its budget is 200"));
        assert!(over(&rooms(100), &rooms(400))[0].contains("far below"));
        assert!(over(&rooms(1), &Rooms::new())[0].contains("without a budget"));
        assert_eq!((budget(199), budget(200)), (200, 300));
    }
}
