//! The files of the checkout, and which of them are generated, as git says.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// The files of the checkout, tracked and new.
pub(crate) fn tracked(root: &Path) -> Result<Vec<String>, String> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git ls-files cannot be run: {error}"))?;
    if !listed.status.success() {
        return Err("git ls-files does not pass: tidy needs a checkout".to_owned());
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    Ok(names.split('\0').filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// Which of `paths` .gitattributes marks as generated.
pub(crate) fn generated(root: &Path, paths: &[String]) -> Result<Vec<bool>, String> {
    let failed = |error: std::io::Error| format!("git check-attr cannot be run: {error}");
    let mut git = Command::new("git")
        .args(["check-attr", "-z", "--stdin", "linguist-generated"])
        .current_dir(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let names = paths.join("\0") + "\0";
    let mut input = git.stdin.take().ok_or("git check-attr has no input")?;
    let writing = std::thread::spawn(move || input.write_all(names.as_bytes()));
    let output = git.wait_with_output().map_err(failed)?;
    writing.join().map_err(|_| "git check-attr ended early".to_owned())?.map_err(failed)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // path, attribute, value
    let values: Vec<bool> = text.split('\0').skip(2).step_by(3).map(|value| value == "set").collect();
    if values.len() == paths.len() { Ok(values) } else { Err("git check-attr gave another number of paths".to_owned()) }
}
