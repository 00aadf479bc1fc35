//! A host while it runs: a thread that is in the host's network namespace and does there what it is
//! given.
//!
//! A network namespace belongs to a thread: sockets, `/proc/sys/net` and the commands that a thread
//! starts are those of its own.

use crate::fault::Fault;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread;

/// Something to do in a host.
type Task = Box<dyn FnOnce() + Send>;

/// A host's thread. It ends when all of its copies are dropped.
#[derive(Clone, Debug)]
pub struct Host {
    name: Arc<str>,
    tasks: Sender<Task>,
}

impl Host {
    /// A thread named `name` that first does `enter`, and what that answered.
    ///
    /// # Errors
    /// If the thread cannot be made, or `enter` fails.
    pub fn new<T: Send + 'static>(
        name: Arc<str>,
        enter: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<(Self, T), Fault> {
        let (tasks, to_do) = channel::<Task>();
        let (answer, entered) = channel();
        thread::Builder::new()
            .name(format!("host {name}"))
            .spawn(move || {
                let is_entered = answer_of(enter, &answer);
                while is_entered && let Ok(task) = to_do.recv() {
                    task();
                }
            })
            .map_err(|e| Fault::of(&format!("host {name}: a thread cannot be made"), &e))?;
        let entered = entered.recv().map_err(|_| Fault::new(format!("host {name}: its thread has failed")))??;
        Ok((Self { name, tasks }, entered))
    }

    /// Its name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Does `task` in the host and waits for its answer; it should be short, for others wait.
    ///
    /// # Errors
    /// If the host's thread has failed.
    pub fn run<T: Send + 'static>(&self, task: impl FnOnce() -> T + Send + 'static) -> Result<T, Fault> {
        let (answer, done) = channel();
        let failed = || Fault::new(format!("host {}: its thread has failed", self.name));
        self.tasks
            .send(Box::new(move || {
                let _ = answer.send(task());
            }))
            .map_err(|_| failed())?;
        done.recv().map_err(|_| failed())
    }

    /// A thread in the host for as long as `task` takes.
    ///
    /// # Errors
    /// If the thread cannot be made.
    pub fn spawn<T: Send + 'static>(
        &self,
        task: impl FnOnce() -> T + Send + 'static,
    ) -> Result<thread::JoinHandle<T>, Fault> {
        let name = Arc::clone(&self.name);
        self.run(move || thread::Builder::new().name(format!("work {name}")).stack_size(STACK).spawn(task))?
            .map_err(|e| Fault::of(&format!("host {}: a thread cannot be made", self.name), &e))
    }
}

/// Sends what `enter` answered, and tells whether it went well.
fn answer_of<T>(enter: impl FnOnce() -> Result<T, Fault>, answer: &Sender<Result<T, Fault>>) -> bool {
    let entered = enter();
    let is_entered = entered.is_ok();
    answer.send(entered).is_ok() && is_entered
}

/// A thread of a flow holds a buffer of its own elsewhere.
const STACK: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_done_in_the_thread_of_the_host() {
        let (host, entered) = Host::new("left".into(), || Ok(thread::current().id())).unwrap();
        assert_eq!(host.run(|| thread::current().id()).unwrap(), entered);
        assert_ne!(host.spawn(|| thread::current().id()).unwrap().join().unwrap(), entered);
    }

    #[test]
    fn a_host_that_cannot_be_entered_says_why() {
        let refused = Host::new::<()>("left".into(), || Err(Fault::new("no right to"))).unwrap_err();
        assert_eq!(refused.message, "no right to");
    }

    #[test]
    fn a_host_whose_task_fails_says_so_and_does_not_hang() {
        let (host, ()) = Host::new("left".into(), || Ok(())).unwrap();
        let failed = host.run(|| std::panic::resume_unwind(Box::new(())) as ()).unwrap_err();
        assert_eq!(failed.message, "host left: its thread has failed");
        assert!(host.run(|| ()).is_err());
    }
}
