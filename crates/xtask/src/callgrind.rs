//! Programs under callgrind, which counts their instructions.

use std::process::{Command, Output};

/// What a program says that ends well.
pub(crate) fn done(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("cannot be run: {command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("does not pass: {command:?}\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(output)
}

/// What a workload says under callgrind.
pub(crate) fn counted(program: &str, arguments: &[&str]) -> Result<Output, String> {
    let callgrind = ["--tool=callgrind", "--callgrind-out-file=/dev/null", program];
    done(Command::new("valgrind").args(callgrind).args(arguments))
}

/// How many instructions callgrind counted.
pub(crate) fn instructions(output: &Output) -> Result<u64, String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let counted = said.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    counted.ok_or("callgrind says no count".to_owned())
}

/// The number with which a line of what a workload says begins, before `words`.
pub(crate) fn number_before(output: &Output, words: &str) -> Option<u64> {
    let said = String::from_utf8_lossy(&output.stdout);
    said.lines().find_map(|line| line.split_once(words)?.0.parse().ok())
}
