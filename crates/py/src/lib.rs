//! Python bindings of fairq.
