//! Real data for tests, in the folder that the environment variable `FAIRQ_DATA` names.

use crate::skip::skip;
use std::path::PathBuf;

/// The folder `below` of the real data. Without it a line says that it was skipped, and so what was
/// not done.
#[expect(clippy::disallowed_methods, reason = "where the real data lie is said from outside")]
pub fn folder(below: &str, not_done: &str) -> Option<PathBuf> {
    let folder = std::env::var("FAIRQ_DATA").ok().map(|data| PathBuf::from(data).join(below));
    let found = folder.filter(|folder| folder.is_dir());
    if found.is_none() {
        skip(&format!("FAIRQ_DATA does not name a folder with {below}/, so {not_done}"));
    }
    found
}

/// The files in the folder `below` of the real data, in the order of their names; none without it.
///
/// # Panics
///
/// If the folder cannot be listed.
pub fn files(below: &str, not_done: &str) -> Vec<PathBuf> {
    let Some(folder) = folder(below, not_done) else { return Vec::new() };
    let entries = folder.read_dir().expect("the folder can be listed");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be listed").path()).collect();
    paths.sort();
    paths
}
