//! The simulator builds for the browser.

use std::path::Path;
use std::process::Command;

#[test]
fn it_builds_for_wasm32() {
    const TARGET: &str = "wasm32-unknown-unknown";
    let rustc = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = rustc.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let folder = folder.and_then(|folder| String::from_utf8(folder).ok());
    if !folder.is_some_and(|folder| Path::new(folder.trim()).is_dir()) {
        eprintln!("SKIPPED: {TARGET} is not installed; `rustup target add {TARGET}` installs it");
        return;
    }
    // A target folder of its own: the one of this test run is locked by it.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("wasm");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let check = Command::new(env!("CARGO"))
        .args(["check", "--quiet", "-p", "fairq-sim", "--no-default-features", "--target", TARGET, "--target-dir"])
        .arg(folder)
        .current_dir(root)
        .output()
        .expect("cargo, which runs this test, can be run");
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}
