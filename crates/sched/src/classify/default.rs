//! The classifiers of most queues, source-destination pairs and processes, told apart by a test and
//! not by a call.

use super::pair::Pair;
use super::port_pair::PortPair;
use crate::contract::{Classifier, Line};
use crate::hash::Hash;
use crate::packet::Header;
use crate::registry::ClassifierSettings;

/// One of the two.
pub(crate) enum DefaultClassifier {
    Pair(Pair),
    PortPair(PortPair),
}

impl DefaultClassifier {
    /// The one of `settings`, if it is one of them.
    pub(crate) fn new(settings: &ClassifierSettings, line: &Line) -> Option<Self> {
        match settings {
            ClassifierSettings::Pair(settings) => Some(Self::Pair(Pair::new(settings, line))),
            ClassifierSettings::PortPair(settings) => Some(Self::PortPair(PortPair::new(settings, line))),
            _ => None,
        }
    }
}

impl Classifier for DefaultClassifier {
    #[inline]
    fn key(&self, header: &Header, hash: Hash) -> u64 {
        match self {
            Self::Pair(pair) => pair.key(header, hash),
            Self::PortPair(pair) => pair.key(header, hash),
        }
    }
}
