//! A line between sockets of this machine that Python holds. Settings come in and counts leave as
//! JSON.

use crate::errors::UsageError;
use fairq_gateway::relay::{Protocol, RelaySettings, WayChange};
use pyo3::prelude::*;
use serde::de::DeserializeOwned;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A relay, until it is closed.
#[pyclass(frozen)]
pub(crate) struct Relay(Mutex<Option<fairq_gateway::relay::Relay>>);

impl Relay {
    fn held(&self) -> MutexGuard<'_, Option<fairq_gateway::relay::Relay>> {
        // What is behind it is whole at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What `work` on the relay gives, without the interpreter's lock.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&fairq_gateway::relay::Relay) -> Result<T, String> + Send,
    ) -> PyResult<T> {
        let done = py.detach(|| match &*self.held() {
            Some(relay) => work(relay),
            None => Err("the link is closed; make another".into()),
        });
        done.map_err(UsageError::new_err)
    }
}

#[pymethods]
impl Relay {
    #[new]
    fn new(settings: &str) -> PyResult<Self> {
        let settings: RelaySettings = read(settings)?;
        let relay = fairq_gateway::relay::Relay::new(&settings).map_err(UsageError::new_err)?;
        Ok(Self(Mutex::new(Some(relay))))
    }

    /// Opens a way to a target: the address and the port where clients go instead.
    fn open(&self, py: Python<'_>, protocol: &str, host: &str, port: u16) -> PyResult<(String, u16)> {
        let protocol = match protocol {
            "tcp" => Protocol::Tcp,
            "udp" => Protocol::Udp,
            _ => {
                let fault = format!("protocol: {protocol}: there is none called so; write tcp or udp");
                return Err(UsageError::new_err(fault));
            }
        };
        let host = if host == "localhost" { "127.0.0.1" } else { host };
        let address: IpAddr = host.parse().map_err(|_| {
            UsageError::new_err(format!("{host}: it is no IP address; write one of this machine, as 127.0.0.1"))
        })?;
        let opened = self.work(py, |relay| relay.open(protocol, SocketAddr::new(address, port)))?;
        Ok((opened.ip().to_string(), opened.port()))
    }

    /// Changes both directions, JSON: an array of the changes of each, or null.
    fn change(&self, py: Python<'_>, changes: &str) -> PyResult<()> {
        let changes: [Option<WayChange>; 2] = read(changes)?;
        self.work(py, |relay| relay.change(&changes))
    }

    /// What was counted up to now, as JSON.
    fn stats(&self, py: Python<'_>) -> PyResult<String> {
        self.work(py, |relay| relay.stats().map(|stats| stats.to_string()))
    }

    /// Ends it: its connections are closed, and what is on the line is gone.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(self.held().take()));
    }
}

fn read<T: DeserializeOwned>(text: &str) -> PyResult<T> {
    serde_json::from_str(text).map_err(|error| UsageError::new_err(error.to_string()))
}
