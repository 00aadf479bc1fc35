//! Experiments and all their dependencies build for the browser, without a warning.

use fairq_testkit::skip::skip;
use std::path::Path;
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

/// The crates are built one by one: features enabled by one package must not be what makes another
/// build.
const CRATES: [&str; 5] = ["fairq-sched", "fairq-text", "fairq-link", "fairq-sim", "fairq-experiment"];

#[test]
fn every_crate_of_the_core_builds_for_wasm32() {
    let rustc = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = rustc.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let folder = folder.and_then(|folder| String::from_utf8(folder).ok());
    if !folder.is_some_and(|folder| Path::new(folder.trim()).is_dir()) {
        skip(&format!("{TARGET} is not installed; `rustup target add {TARGET}` installs it"));
        return;
    }
    // The target folder of this test run: it has the macros already.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("..");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for name in CRATES {
        let check = Command::new(env!("CARGO"))
            .args(["check", "--quiet", "-p", name, "--no-default-features", "--target", TARGET, "--target-dir"])
            .arg(&folder)
            .current_dir(&root)
            .output()
            .expect("cargo, which runs this test, can be run");
        let said = String::from_utf8_lossy(&check.stderr);
        assert!(check.status.success() && !said.contains("warning"), "{name}: {said}");
    }
}
