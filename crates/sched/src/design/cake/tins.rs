//! CAKE's tins: classes by DSCP, each with a threshold of the rate (the tables and `cake_config_…`
//! of sch_cake.c).

/// Which tins there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "snake_case"))]
pub enum Tins {
    /// One for all.
    BestEffort,
    /// Best effort, bulk, voice.
    #[default]
    Diffserv3,
    /// Best effort, bulk, video, voice.
    Diffserv4,
    /// From background traffic to network control.
    Diffserv8,
    /// By the three bits of IP precedence.
    Precedence,
}

impl Tins {
    /// The tin of a type-of-service byte; of two tins that may send the one with the greater number
    /// does.
    pub(super) const fn of(self, tos: u8) -> usize {
        let dscp = tos >> 2;
        match self {
            Self::BestEffort => 0,
            Self::Precedence => (dscp >> 3) as usize,
            // LE and CS1.
            Self::Diffserv3 | Self::Diffserv4 if matches!(dscp, 1 | 8) => 1,
            // TOS4, VA, EF, CS6, CS7.
            Self::Diffserv3 if matches!(dscp, 4 | 44 | 46 | 48 | 56) => 2,
            // CS4, CS5, VA, EF, CS6, CS7.
            Self::Diffserv4 if matches!(dscp, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            // TOS4, CS2, AF2x, CS3, AF3x, AF4x.
            Self::Diffserv4 if matches!(dscp, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            Self::Diffserv3 | Self::Diffserv4 => 0,
            Self::Diffserv8 => match dscp {
                // LE.
                1 => 0,
                // TOS2, CS1, AF1x.
                2 | 8 | 10 | 12 | 14 => 1,
                // CS3, AF3x, AF4x.
                24 | 26 | 28 | 30 | 34 | 36 | 38 => 3,
                // TOS4, AF2x.
                4 | 18 | 20 | 22 => 4,
                // CS2.
                16 => 5,
                // CS4, CS5, VA, EF.
                32 | 40 | 44 | 46 => 6,
                // CS6, CS7.
                48 | 56 => 7,
                _ => 2,
            },
        }
    }

    /// The names of the tins, as `tc -s` heads their columns.
    pub(super) const fn names(self) -> &'static [&'static str] {
        match self {
            Self::BestEffort => &["best_effort"],
            Self::Diffserv3 => &["best_effort", "bulk", "voice"],
            Self::Diffserv4 => &["best_effort", "bulk", "video", "voice"],
            Self::Diffserv8 | Self::Precedence => {
                &["tin_0", "tin_1", "tin_2", "tin_3", "tin_4", "tin_5", "tin_6", "tin_7"]
            }
        }
    }

    /// The threshold of tin `at` of a rate of the shaper.
    pub(super) const fn threshold(self, at: usize, rate: u64) -> u64 {
        match (self, at) {
            (Self::Diffserv3 | Self::Diffserv4, 1) => rate >> 4,
            (Self::Diffserv4, 2) => rate >> 1,
            (Self::Diffserv3, 2) | (Self::Diffserv4, 3) => rate >> 2,
            (Self::Diffserv8 | Self::Precedence, _) => less(rate, at),
            _ => rate,
        }
    }

    /// What tin `at` may send in a turn where there is no shaper.
    pub(super) const fn quantum(self, at: usize) -> i64 {
        let quantum = match (self, at) {
            (Self::BestEffort, _) => 65_535,
            (Self::Diffserv3 | Self::Diffserv4, 1) => 1024 >> 4,
            (Self::Diffserv4, 2) => 1024 >> 1,
            (Self::Diffserv3, 2) | (Self::Diffserv4, 3) => 1024 >> 2,
            (Self::Diffserv3 | Self::Diffserv4, _) => 1024,
            (Self::Diffserv8 | Self::Precedence, _) => less(256, at),
        };
        if quantum == 0 { 1 } else { quantum as i64 }
    }
}

/// Seven eighths of `value`, `times` over, each rounded down.
const fn less(value: u64, times: usize) -> u64 {
    let (mut left, mut at) = (value, 0);
    while at < times {
        left = (left * 7) >> 3;
        at += 1;
    }
    left
}
