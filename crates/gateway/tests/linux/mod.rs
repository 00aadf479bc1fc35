//! The driver: which cases there are, and how each is run.

mod cases;
mod forward;
mod outcomes;

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// What a case ends with if this machine has no namespaces, or keeps TUN devices closed.
const NO_NAMESPACES: i32 = 77;
const NO_TUN: i32 = 78;

/// The user without rights.
const NOBODY: u32 = 65534;

type Case = (&'static str, fn(&Runner));

const CASES: &[Case] = &[
    ("connections cross, with the congestion control of their routes", connections),
    ("flows of a plan are sent and counted", |run| {
        run.passes(&["work", "tun"]);
        run.passes(&["work", "packet"]);
    }),
    ("the status of the command is passed on", outcomes::statuses),
    ("commands see their host, and the user as outside", outcomes::inside),
    ("a command that is not there is named", outcomes::not_there),
    ("what commands in the background say has their host's name", outcomes::background),
    ("a kill leaves nothing behind", outcomes::killed),
    ("a kill of what started it leaves nothing behind", outcomes::orphaned),
    ("an end leaves nothing behind", outcomes::ended),
    ("Ctrl-C is for the command", outcomes::interrupted),
    ("two at once do not meet", two_at_once),
    ("one inside another has a host of that one", outcomes::beside),
];

fn connections(run: &Runner) {
    for back_end in ["tun", "packet"] {
        for control in ["reno", "cubic"] {
            run.passes(&["connect", back_end, control]);
        }
    }
}

fn two_at_once(run: &Runner) {
    let before = interfaces();
    std::thread::scope(|scope| {
        scope.spawn(|| run.passes(&["connect", "packet", "reno"]));
        scope.spawn(|| run.passes(&["connect", "packet", "reno"]));
    });
    assert_eq!(interfaces(), before, "interfaces of the machine");
}

/// Names of the machine's interfaces.
fn interfaces() -> Vec<String> {
    let table = std::fs::read_to_string("/proc/net/dev").expect("the machine's interfaces");
    table.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim().to_owned()).collect()
}

pub(crate) fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "case") {
        std::process::exit(cases::run(&words[1..]));
    }
    let program = copy_for_all();
    let wanted = words.iter().find(|word| !word.starts_with('-'));
    let is_root = rustix::process::geteuid().is_root();
    let mut passed = 0;
    for user in [None, Some(NOBODY)] {
        if user.is_some() && !is_root {
            continue;
        }
        let runner = Runner { program: program.clone(), user };
        let by = if user.is_some() { "user" } else { "as we are" };
        for (name, case) in CASES {
            if wanted.is_none_or(|part| name.contains(part.as_str())) {
                case(&runner);
                println!("test {name} ({by}) ... ok");
                passed += 1;
            }
        }
    }
    std::fs::remove_dir_all(program.parent().expect("it is in a folder")).expect("our folder");
    // As the usual harness ends, for what counts tests (scripts/run_tests.py).
    println!("test result: ok. {passed} passed; 0 failed; 0 ignored");
}

/// A copy of this program where every user may run it.
fn copy_for_all() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fairq-hosts-test-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder for this test");
    let program = folder.join("hosts");
    std::fs::copy(std::env::current_exe().expect("our own path"), &program).expect("a copy of this program");
    program
}

#[expect(clippy::disallowed_methods, reason = "where a skip is a failure is said from outside")]
fn are_required() -> bool {
    std::env::var("FAIRQ_NAMESPACES").is_ok_and(|value| value == "required")
}

/// Runs cases, as one user.
pub(crate) struct Runner {
    pub(crate) program: PathBuf,
    pub(crate) user: Option<u32>,
}

impl Runner {
    /// The process of a case, not started.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("case").args(words).stdin(Stdio::null()).current_dir("/");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// The process of a case, in a shell that waits for it.
    pub(crate) fn in_shell(&self, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", "\"$0\" case \"$@\"; exit 0"]).arg(&self.program).args(words);
        command.stdin(Stdio::null()).current_dir("/");
        if let Some(user) = self.user {
            command.uid(user).gid(user);
        }
        command
    }

    /// What a case ends with; `None`: it was skipped.
    pub(crate) fn output(&self, words: &[&str]) -> Option<Output> {
        let output = self.command(words).output().expect("this program starts");
        let said = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        if code == Some(NO_NAMESPACES) || code == Some(NO_TUN) {
            let reason = format!("{words:?}: {}", said.trim());
            assert!(!(code == Some(NO_NAMESPACES) && are_required()), "{reason}");
            fairq_testkit::skip::skip(&reason);
            return None;
        }
        Some(output)
    }

    /// Runs a case that is to end well.
    pub(crate) fn passes(&self, words: &[&str]) {
        let Some(output) = self.output(words) else { return };
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}, user {:?}: {:?}\n{said}", self.user, output.status);
    }
}
