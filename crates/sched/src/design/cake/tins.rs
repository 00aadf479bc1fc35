//! CAKE's tins: classes by DSCP, each with a share of the line (tc-cake's manual page, as remembered).

/// Which tins there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Tins {
    /// One for all.
    BestEffort,
    /// Bulk, best effort, voice.
    #[default]
    Diffserv3,
    /// Bulk, best effort, video, voice.
    Diffserv4,
}

/// How many tins there are at most: bulk, best effort, video, voice.
pub(super) const TINS: usize = 4;
pub(super) const BULK: usize = 0;
pub(super) const BEST_EFFORT: usize = 1;
pub(super) const VIDEO: usize = 2;
pub(super) const VOICE: usize = 3;

impl Tins {
    /// The tin of a type-of-service byte.
    pub(super) const fn of(self, tos: u8) -> usize {
        let dscp = tos >> 2;
        match self {
            Self::BestEffort => BEST_EFFORT,
            // LE and CS1.
            Self::Diffserv3 | Self::Diffserv4 if matches!(dscp, 1 | 8) => BULK,
            // TOS4, VA, EF, CS6, CS7.
            Self::Diffserv3 if matches!(dscp, 4 | 44 | 46 | 48 | 56) => VOICE,
            // CS4, CS5, VA, EF, CS6, CS7.
            Self::Diffserv4 if matches!(dscp, 32 | 40 | 44 | 46 | 48 | 56) => VOICE,
            // TOS4, CS2, AF2x, CS3, AF3x, AF4x.
            Self::Diffserv4 if matches!(dscp, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => VIDEO,
            _ => BEST_EFFORT,
        }
    }
}
