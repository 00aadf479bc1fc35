//! A crate whose tests are one program (`tests/it.rs`) names each file of them: one that it does
//! not name would never run.

use std::fs;
use std::path::Path;

use crate::Findings;

/// The files of tests that no program holds.
pub(crate) fn test_files(root: &Path, paths: &[String]) -> Findings {
    let read = |path: String| fs::read_to_string(root.join(path)).unwrap_or_default();
    let crates = paths.iter().filter_map(|path| path.strip_suffix("/tests/it.rs"));
    let unnamed = |folder: &str| -> Findings {
        let programs = read(format!("{folder}/Cargo.toml")) + &read(format!("{folder}/tests/it.rs"));
        let inside = paths.iter().filter_map(|path| path.strip_prefix(folder)?.strip_prefix("/tests/"));
        let names = inside.filter_map(|file| file.strip_suffix(".rs")).filter(|name| !name.contains('/'));
        let lost = names.filter(|name| !is_named(&programs, name));
        lost.map(|name| format!("{folder}/tests/{name}.rs: tests/it.rs does not name it: mod {name};")).collect()
    };
    crates.flat_map(unnamed).collect()
}

/// Whether a manifest or a program holds the file of tests.
fn is_named(programs: &str, name: &str) -> bool {
    let lines = [format!("mod {name};"), format!("name = \"{name}\"")];
    programs.lines().any(|line| lines.iter().any(|wanted| line == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_module_or_a_program_of_its_own() {
        let programs = "[[test]]\nname = \"memory\"\n[lints]\nmod laws;\n";
        assert!(["laws", "memory"].iter().all(|name| is_named(programs, name)));
        assert!(["law", "emory", "it2"].iter().all(|name| !is_named(programs, name)));
    }
}
