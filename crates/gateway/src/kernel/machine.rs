//! One kernel: a process, the clock's end of its clock and the other end of its network card.

use super::card::{Card, Event};
use super::clock::{self, Message};
use rustix::event::{PollFd, PollFlags, poll};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// A kernel that runs only when it is told to.
pub(crate) struct Machine {
    time: UnixStream,
    pub(crate) card: Card,
    /// When it wants to run next.
    wants: Option<u64>,
    has_started: bool,
    /// Queues of whose news it is to be told.
    news: [bool; 2],
    pub(crate) is_gone: bool,
    /// The exit status of its command, if that has ended.
    pub(crate) status: Option<u64>,
    sequence: u32,
    pub(crate) messages: u64,
    pub(crate) turns: u64,
}

/// What happens while a kernel runs.
pub(crate) trait World {
    /// A frame of the running kernel.
    fn frame(&mut self, now: u64, frame: &[u8]);
    /// When something happens next but for the running kernel.
    fn next(&self) -> u64;
}

/// Until when the kernel runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Waits,
    Called,
    Acknowledged,
}

impl Machine {
    /// A kernel whose process has connected its clock; it starts at that time.
    pub(crate) fn new(time: UnixStream, card: Card, starts: u64) -> Self {
        Self {
            time,
            card,
            wants: Some(starts),
            has_started: false,
            news: [false; 2],
            is_gone: false,
            status: None,
            sequence: 0,
            messages: 0,
            turns: 0,
        }
    }

    /// Lets the kernel, which has said that it is there, run until it waits.
    fn start(&mut self, now: &mut u64, world: &mut impl World) -> io::Result<()> {
        self.has_started = true;
        match clock::receive(&self.time)? {
            Some(Message { op: clock::START, sequence, .. }) => {
                clock::welcome(&self.time, sequence)?;
                self.serve(now, world, Until::Waits)
            }
            Some(other) => Err(io::Error::other(format!("it began with {other:?}"))),
            None => {
                self.is_gone = true;
                Ok(())
            }
        }
    }

    /// Lets it run at `now`, or start, until it waits again.
    pub(crate) fn run(&mut self, now: &mut u64, world: &mut impl World) -> io::Result<()> {
        self.turns += 1;
        self.wants = None;
        if !self.has_started {
            return self.start(now, world);
        }
        self.free(*now, world)?;
        self.tell(clock::RUN, *now, now, world)?;
        self.serve(now, world, Until::Waits)
    }

    /// Tells it, as it waits, of what is new; afterwards it wants to run at once.
    pub(crate) fn call(&mut self, now: &mut u64, world: &mut impl World) -> io::Result<()> {
        for queue in 0..2 {
            if self.news[queue] && !self.is_gone {
                self.news[queue] = false;
                if self.card.wants_call(queue)? {
                    self.card.call(queue)?;
                    self.serve(now, world, Until::Called)?;
                }
            }
        }
        Ok(())
    }

    /// When it wants to run or is to be told something: in the past if at once.
    pub(crate) fn next(&self) -> u64 {
        match self.wants {
            _ if self.is_gone => u64::MAX,
            _ if self.has_news() => 0,
            wants => wants.unwrap_or(u64::MAX),
        }
    }

    /// Whether it is to be told something.
    pub(crate) fn has_news(&self) -> bool {
        self.news != [false; 2] && !self.is_gone
    }

    /// A frame for it.
    pub(crate) fn deliver(&mut self, frame: &[u8]) -> io::Result<()> {
        self.news[0] = true;
        self.card.deliver(frame)
    }

    /// Says until when it may go on by itself.
    fn free(&mut self, now: u64, world: &mut impl World) -> io::Result<()> {
        let until = if self.has_news() { now } else { world.next().max(now) };
        let mut time = now;
        self.tell(clock::FREE_UNTIL, until, &mut time, world)
    }

    fn tell(&mut self, op: u32, time: u64, now: &mut u64, world: &mut impl World) -> io::Result<()> {
        self.sequence += 1;
        clock::send(&self.time, Message { op, sequence: self.sequence, time })?;
        self.serve(now, world, Until::Acknowledged)
    }

    /// Answers it until that.
    fn serve(&mut self, now: &mut u64, world: &mut impl World, until: Until) -> io::Result<()> {
        while !self.is_gone {
            self.messages += 1;
            let [time, card, called] = self.ready(until)?;
            if time {
                let Some(message) = clock::receive(&self.time)? else {
                    self.is_gone = true;
                    break;
                };
                if self.time(message, now)? == Some(until) {
                    break;
                }
            } else if card {
                self.card(now, world)?;
            } else if called {
                if !self.card.called()? {
                    self.is_gone = true;
                }
                break;
            }
        }
        Ok(())
    }

    /// Which of its sockets has something.
    fn ready(&self, until: Until) -> io::Result<[bool; 3]> {
        let (events, calls) = (PollFlags::IN, self.card.calls());
        let mut sockets = vec![
            PollFd::from_borrowed_fd(self.time.as_fd(), events),
            PollFd::from_borrowed_fd(self.card.descriptor(), events),
        ];
        if let (Until::Called, Some(calls)) = (until, calls) {
            sockets.push(PollFd::from_borrowed_fd(calls.as_fd(), events));
        }
        while let Err(error) = poll(&mut sockets, None) {
            if error != rustix::io::Errno::INTR {
                return Err(error.into());
            }
        }
        let ready = |at: usize| sockets.get(at).is_some_and(|one| !one.revents().is_empty());
        Ok([ready(0), ready(1), ready(2)])
    }

    fn time(&mut self, message: Message, now: &mut u64) -> io::Result<Option<Until>> {
        let Message { op, sequence, time } = message;
        let mut answer = 0;
        match op {
            clock::ACK => return Ok(Some(Until::Acknowledged)),
            clock::REQUEST => self.wants = Some(time),
            clock::UPDATE => *now = time.max(*now),
            clock::GET => answer = *now,
            clock::BROADCAST => self.status = Some(time),
            clock::GET_TOD => answer = clock::DATE + *now,
            _ => {}
        }
        clock::send(&self.time, Message { op: clock::ACK, sequence, time: answer })?;
        Ok((op == clock::WAIT).then_some(Until::Waits))
    }

    fn card(&mut self, now: &mut u64, world: &mut impl World) -> io::Result<()> {
        let (event, answer) = self.card.read()?;
        match event {
            Event::Gone => self.is_gone = true,
            Event::Nothing => {}
            Event::Frames => {
                self.card.send(|frame| world.frame(*now, frame))?;
                self.news[1] = self.card.wants_call(1)?;
                // The frames may come to something before the time until which it was free.
                self.free(*now, world)?;
            }
        }
        match answer {
            Some(answer) if !self.is_gone => self.card.answer(&answer),
            _ => Ok(()),
        }
    }
}
