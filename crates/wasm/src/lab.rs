//! What the page holds: scenarios read, and up to two runs.

use crate::refused::Refused;
use crate::request::{Asked, Request};
use crate::run::Run;
use crate::{asked, scenario};
use serde_json::json;

/// What the page holds.
#[derive(Default)]
pub struct Lab {
    runs: [Option<Run>; 2],
}

impl Lab {
    /// The answer to a request, both JSON text.
    #[must_use]
    pub fn call(&mut self, request: &[u8]) -> String {
        match self.answer(request) {
            Ok(text) => format!("{{\"ok\":{text}}}"),
            Err(refused) => {
                let Refused { text, message, path, line, restart } = refused;
                json!({ "fault": { "text": text, "message": message, "path": path, "line": line, "restart": restart } })
                    .to_string()
            }
        }
    }

    fn answer(&mut self, request: &[u8]) -> Result<String, Refused> {
        let answer = match Asked::read(request)? {
            Asked::Other(Request::About) => {
                json!({ "version": env!("CARGO_PKG_VERSION"), "queues": scenario::queues()? })
            }
            Asked::Other(Request::Card { of }) => scenario::card(&of)?,
            Asked::Other(Request::Read(given)) => scenario::described(&scenario::read(&given)?),
            Asked::Other(Request::Whole(given)) => return scenario::whole(&given),
            Asked::Other(Request::Begin { run, begin }) => {
                let place = self.runs.get_mut(run).ok_or_else(|| "run: write 0 or 1".to_owned())?;
                // What it held is given back before there is more.
                *place = None;
                place.insert(Run::begin(*begin)?).begun()
            }
            Asked::Of(run, asked) => {
                let run = self.runs.get_mut(run).and_then(Option::as_mut);
                asked::answer(run.ok_or_else(|| "run: no run has begun here".to_owned())?, asked)?
            }
        };
        Ok(answer.to_string())
    }
}
