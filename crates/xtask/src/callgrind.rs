//! Programs under callgrind, which counts their instructions.

use std::process::{Command, Output};
use std::sync::Mutex;

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

/// What `measure` gives for each of `works`, in their order; each core takes the next that is left.
/// Counts of instructions are the same whatever else runs.
pub(crate) fn on_all_cores<T: Sync, R: Send>(works: &[T], measure: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let (left, found) = (Mutex::new(works.iter().enumerate()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let next = || left.lock().expect("no other core has failed").next();
                while let Some((at, work)) = next() {
                    let result = measure(work);
                    found.lock().expect("no other core has failed").push((at, result));
                }
            });
        }
    });
    let mut found = found.into_inner().expect("all cores have ended");
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, result)| result).collect()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_cores_find_is_in_the_order_of_the_works() {
        let works: Vec<u64> = (0..40).rev().collect();
        let found = on_all_cores(&works, |work| {
            std::thread::sleep(std::time::Duration::from_micros(work * 50));
            2 * work
        });
        assert_eq!(found, works.iter().map(|work| 2 * work).collect::<Vec<_>>());
    }
}
