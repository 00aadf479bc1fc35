//! How commands end, and what is left then.

use super::Runner;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

pub(crate) fn statuses(run: &Runner) {
    for (script, status) in [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137), ("kill -TERM $$", 143)] {
        let Some(output) = run.output(&["command", "", "sh", "-c", script]) else { return };
        assert_eq!(output.status.code(), Some(status), "{script}: {output:?}");
    }
}

pub(crate) fn inside(run: &Runner) {
    let script = "id -u; grep -c -w right /etc/hosts; ls /proc/sys/net/ipv4/conf | tr '\\n' ' '; \
                  echo; cat /proc/sys/net/ipv4/tcp_no_metrics_save; echo $FAIRQ_EMULATION; cat /proc/self/comm";
    let Some(output) = run.output(&["command", "", "sh", "-c", script]) else { return };
    let said = String::from_utf8_lossy(&output.stdout);
    let user = run.user.unwrap_or(0);
    assert_eq!(said, format!("{user}\n2\nall default eth0 lo \n1\n77\ncat\n"), "{output:?}");
}

pub(crate) fn not_there(run: &Runner) {
    let Some(output) = run.output(&["command", "", "fairq-none"]) else { return };
    assert_eq!(String::from_utf8_lossy(&output.stderr), "host left: there is no command `fairq-none`\n");
    assert_eq!(output.status.code(), Some(1));
}

pub(crate) fn background(run: &Runner) {
    let words = ["command", "echo one; echo two >&2; exit 3", "sh", "-c", "sleep 0.2; echo left"];
    let Some(output) = run.output(&words) else { return };
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("right: one\n") && said.contains("right: two\n"), "{said}");
    let failed = "host right: `sh -c echo one; echo two >&2; exit 3` ended with status 3";
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("left\nfailed: {failed}\n"));
    assert_eq!(output.status.code(), Some(0), "that of the command in the foreground");
}

/// A run whose commands leave children behind that would sleep for long; and the namespace of
/// its left host. `None`: it was skipped.
fn sleepers(run: &Runner, and_then: &str, is_in_shell: bool) -> Option<(Child, String)> {
    // Whether namespaces are to be had is asked first.
    run.output(&["command", "", "true"]).filter(|output| output.status.success())?;
    let script = format!("setsid sleep 300 & (sleep 301 &) ; readlink /proc/self/ns/net; {and_then}");
    let words = ["command", "setsid sleep 302 & sleep 303; true", "sh", "-c", &script];
    let mut command = run.command(&words);
    if is_in_shell {
        command = run.in_shell(&words);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().expect("this program starts");
    let mut namespace = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut namespace).expect("a line");
    assert!(namespace.starts_with("net:["), "{namespace}");
    Some((child, namespace.trim().to_owned()))
}

/// Numbers of processes in a network namespace.
fn processes_in(namespace: &str) -> Vec<String> {
    let all = std::fs::read_dir("/proc").expect("processes");
    let names = all.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let is_in = |name: &String| {
        std::fs::read_link(Path::new("/proc").join(name).join("ns/net")).is_ok_and(|link| link == Path::new(namespace))
    };
    names.filter(is_in).collect()
}

/// Waits until a namespace is empty: the kernel ends processes in its own time.
fn is_left_empty(namespace: &str) {
    for _ in 0..500 {
        if processes_in(namespace).is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("processes are left in {namespace}: {:?}", processes_in(namespace));
}

pub(crate) fn killed(run: &Runner) {
    let before = super::interfaces();
    for signal in ["KILL", "TERM"] {
        let Some((mut child, namespace)) = sleepers(run, "sleep 304", false) else { return };
        assert!(processes_in(&namespace).len() >= 3, "the commands run");
        let kill = std::process::Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(kill.expect("kill starts").success());
        let status = child.wait().expect("it ends");
        if signal == "TERM" {
            assert_eq!(status.code(), Some(143));
        }
        is_left_empty(&namespace);
    }
    assert_eq!(super::interfaces(), before, "interfaces of the machine");
}

/// The program that started the gateway is killed, and not the gateway.
pub(crate) fn orphaned(run: &Runner) {
    let Some((mut child, namespace)) = sleepers(run, "sleep 304", true) else { return };
    child.kill().expect("it is there");
    child.wait().expect("it ends");
    is_left_empty(&namespace);
}

/// What Ctrl-C does: a signal to the group of the terminal's foreground.
pub(crate) fn interrupted(run: &Runner) {
    if run.output(&["command", "", "true"]).is_none() {
        return;
    }
    let script = "trap 'exit 9' INT; echo ready; while true; do sleep 0.05; done";
    let mut command = run.command(&["command", "sleep 305", "sh", "-c", script]);
    let mut child = command.process_group(0).stdout(Stdio::piped()).spawn().expect("this program starts");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("a pipe")).read_line(&mut line).expect("a line");
    let group = format!("-{}", child.id());
    let kill = std::process::Command::new("kill").args(["-INT", "--", &group]).status().expect("kill starts");
    assert!(kill.success());
    assert_eq!(child.wait().expect("it ends").code(), Some(9), "what the command makes of it");
}

pub(crate) fn ended(run: &Runner) {
    let Some((mut child, namespace)) = sleepers(run, "exit 5", false) else { return };
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
    is_left_empty(&namespace);
}

pub(crate) fn beside(run: &Runner) {
    let back_ends: &[&str] = if run.user.is_none() { &["packet", "tun"] } else { &["packet"] };
    for back_end in back_ends {
        let program = run.program.to_str().expect("a path in letters");
        let Some(output) = run.output(&["command", "", program, "case", "beside", back_end]) else { return };
        assert_eq!(String::from_utf8_lossy(&output.stdout), "reached from 10.78.0.1\n", "{output:?}");
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
    // Outside of an emulation it is refused, whatever the environment says.
    let output = run.command(&["outside"]).env("FAIRQ_EMULATION", "77").output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("belong to this machine and are not touched"), "{said}");
}
