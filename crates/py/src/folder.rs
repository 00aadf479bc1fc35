//! An output folder is written whole or not at all, and never over something that fairq did not write.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The file in a folder that says what wrote it; a folder with it may be replaced.
pub(crate) const MARKER: &str = ".fairq";

/// A folder that is being written beside the place where it will stand.
pub(crate) struct Folder {
    target: PathBuf,
    /// Gone once the folder stands in its place.
    place: Option<PathBuf>,
}

impl Folder {
    /// Makes a place to write in.
    ///
    /// # Errors
    /// One line, if the target holds something else or nothing can be written beside it.
    pub(crate) fn begin(target: &Path) -> Result<Self, String> {
        refuse_what_is_not_ours(target)?;
        let cannot = |cause: io::Error| not_writable(target, &cause);
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(cannot)?;
        let place = sibling(target, "new");
        fs::create_dir(&place).map_err(cannot)?;
        Ok(Self { target: target.to_owned(), place: Some(place) })
    }

    /// A new folder of this name in it: where it is now, and where it will be.
    ///
    /// # Errors
    /// One line, if it cannot be made.
    pub(crate) fn subfolder(&self, name: &str) -> Result<(PathBuf, PathBuf), String> {
        let now = self.place.as_deref().unwrap_or(&self.target).join(name);
        let then = self.target.join(name);
        fs::create_dir(&now).map_err(|cause| not_writable(&then, &cause))?;
        Ok((now, then))
    }

    /// Puts the folder in its place; what stood there goes. `wrote` is the line that the marker holds.
    ///
    /// # Errors
    /// One line, if that cannot be done; then what stood there still stands.
    pub(crate) fn finish(mut self, wrote: &str) -> Result<(), String> {
        let Some(place) = self.place.clone() else { return Ok(()) };
        let cannot = |cause: io::Error| not_writable(&self.target, &cause);
        fs::write(place.join(MARKER), format!("{wrote}\n")).map_err(cannot)?;
        // Once more: much may have happened since the beginning.
        refuse_what_is_not_ours(&self.target)?;
        if !self.target.exists() {
            fs::rename(&place, &self.target).map_err(cannot)?;
            self.place = None;
            return Ok(());
        }
        let old = sibling(&self.target, "old");
        fs::rename(&self.target, &old).map_err(cannot)?;
        if let Err(cause) = fs::rename(&place, &self.target) {
            // Nothing more can be done if this fails too; the message names where it is.
            let back = fs::rename(&old, &self.target);
            let kept = back.err().map(|_| format!("; what stood there is in {}", old.display())).unwrap_or_default();
            return Err(cannot(cause) + &kept);
        }
        self.place = None;
        // The new folder stands; an old one that cannot be removed is no failure.
        drop(fs::remove_dir_all(&old));
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            drop(fs::remove_dir_all(place));
        }
    }
}

/// The one line for a file or folder that cannot be written.
pub(crate) fn not_writable(path: &Path, cause: &io::Error) -> String {
    format!("{}: cannot be written: {cause}; choose another folder with --out", path.display())
}

fn refuse_what_is_not_ours(target: &Path) -> Result<(), String> {
    let name = target.display();
    let Ok(found) = fs::symlink_metadata(target) else { return Ok(()) };
    if found.is_symlink() {
        return Err(format!("{name}: is a link; give the folder itself"));
    }
    if !found.is_dir() {
        return Err(format!("{name}: is a file, not a folder; choose another name with --out"));
    }
    let entries = fs::read_dir(target).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries =
        entries.map_err(|cause| format!("{name}: cannot be read: {cause}; choose another folder with --out"))?;
    let mut names: Vec<_> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    match names.first() {
        Some(first) if !names.iter().any(|name| name == MARKER) => {
            Err(format!("{name}: holds something that fairq did not write ({first}); choose another folder with --out"))
        }
        _ => Ok(()),
    }
}

/// A name beside `target` that no other process takes.
fn sibling(target: &Path, what: &str) -> PathBuf {
    let name = target.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    target.with_file_name(format!(".{name}.{what}.{}", std::process::id()))
}
