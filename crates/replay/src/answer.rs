//! The answer of a replay: under which discipline flows had the least 99th percentile delay.

use super::direction::Direction;
use super::flows::OTHERS;
use super::report::{DisciplineReport, FlowReport};
use schemars::JsonSchema;
use serde::Serialize;

/// Two 99th percentiles that differ by a smaller part are the same: each is known within 0.8 %.
const SAME: f64 = 0.02;

/// The most sets of disciplines that the sentence of a part names.
const SAID_MAX: usize = 3;

/// Under which disciplines flows had the least 99th percentile delay.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Answer {
    /// The column that is compared.
    pub quantity: &'static str,
    /// Whether it differs for any flow.
    pub decided: bool,
    /// For each direction; for each classifier of rows if disciplines differ in it.
    pub parts: Vec<Part>,
    /// The same as sentences.
    pub text: String,
}

/// The answer for disciplines whose rows are the same flows.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Part {
    /// The direction, if there are two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// The classifier of the rows.
    pub rows_by: &'static str,
    /// Flows of which a packet was sent, without the row that flows share.
    pub flows: u64,
    /// Disciplines that are the same, and the flows for which they are the best; most flows first.
    pub least: Vec<Least>,
    /// The part of all packets that each discipline dropped, without which no delay can be judged.
    pub dropped: Vec<DropRatio>,
}

/// The flows with the least delay under these disciplines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Least {
    /// The disciplines: all whose 99th percentile delay is within 2 % of the least.
    pub disciplines: Vec<String>,
    /// Whether there are others.
    pub differs: bool,
    /// How many flows.
    pub flows: u64,
    /// The flow of them with most packets.
    pub busiest: String,
}

/// What a discipline dropped.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DropRatio {
    /// The discipline.
    pub discipline: String,
    /// Packets dropped, over packets that arrived; 0 without packets.
    pub ratio: f64,
}

impl Answer {
    /// The answer, if there are two disciplines to compare.
    pub(super) fn of(disciplines: &[DisciplineReport]) -> Option<Self> {
        let mut groups: Vec<Vec<&DisciplineReport>> = Vec::new();
        for one in disciplines {
            let key = |lane: &DisciplineReport| (lane.direction, lane.rows_by);
            match groups.iter_mut().find(|group| key(group[0]) == key(one)) {
                Some(group) => group.push(one),
                None => groups.push(vec![one]),
            }
        }
        let parts: Vec<Part> = groups.iter().filter(|lanes| lanes.len() > 1).map(|lanes| Part::of(lanes)).collect();
        if parts.is_empty() {
            return None;
        }
        let names_rows = groups.iter().any(|lanes| lanes[0].rows_by != groups[0][0].rows_by);
        let text = parts.iter().map(|part| part.sentence(names_rows)).collect::<Vec<_>>().join("\n\n");
        let decided = parts.iter().flat_map(|part| &part.least).any(|least| least.differs);
        Some(Self { quantity: "delay_s_p99", decided, parts, text })
    }
}

impl Part {
    fn of(lanes: &[&DisciplineReport]) -> Self {
        let mut least: Vec<Least> = Vec::new();
        let rows = |flow: usize| lanes.iter().map(move |lane| (&lane.name, &lane.flows[flow]));
        let known = |(_, row): (&String, &FlowReport)| row.delay.p99_s;
        // Rows of one classifier are in one order.
        let mut flows: Vec<usize> = (0..lanes[0].flows.len())
            .filter(|flow| lanes[0].flows[*flow].flow != OTHERS && rows(*flow).any(|row| known(row).is_some()))
            .collect();
        flows.sort_by_key(|flow| std::cmp::Reverse(lanes[0].flows[*flow].packets));
        for flow in &flows {
            let limit = rows(*flow).filter_map(known).fold(f64::INFINITY, f64::min) * (1.0 + SAME);
            let best = rows(*flow).filter(|row| known(*row).is_some_and(|delay| delay <= limit));
            let disciplines: Vec<String> = best.map(|(name, _)| name.clone()).collect();
            match least.iter_mut().find(|other| other.disciplines == disciplines) {
                Some(other) => other.flows += 1,
                None => least.push(Least {
                    differs: disciplines.len() < lanes.len(),
                    disciplines,
                    flows: 1,
                    busiest: lanes[0].flows[*flow].flow.clone(),
                }),
            }
        }
        least.sort_by_key(|least| std::cmp::Reverse(least.flows));
        let ratio = |lane: &&DisciplineReport| DropRatio {
            discipline: lane.name.clone(),
            ratio: if lane.packets == 0 { 0.0 } else { lane.dropped as f64 / lane.packets as f64 },
        };
        Self {
            direction: lanes[0].direction,
            rows_by: lanes[0].rows_by,
            flows: flows.len() as u64,
            least,
            dropped: lanes.iter().map(ratio).collect(),
        }
    }

    fn sentence(&self, names_rows: bool) -> String {
        let direction = self.direction.map(|direction| if direction == Direction::Down { "Down" } else { "Up" });
        let start = match (direction, names_rows) {
            (Some(direction), true) => format!("{direction}, by {}: ", self.rows_by),
            (Some(direction), false) => format!("{direction}: "),
            (None, true) => format!("By {}: ", self.rows_by),
            (None, false) => String::new(),
        };
        let mut said = Vec::new();
        let (first, rest): (Vec<_>, Vec<_>) =
            self.least.iter().filter(|least| least.differs).enumerate().partition(|(at, _)| *at < SAID_MAX);
        for (_, least) in first {
            let gave = if said.is_empty() { " gave the least 99th percentile delay" } else { "" };
            said.push(format!("{}{gave} to {}", least.disciplines.join(" and "), self.whose(least)));
        }
        match rest.iter().map(|(_, least)| least.flows).sum() {
            0 => {}
            1 => said.push("others to 1 flow".to_owned()),
            flows => said.push(format!("others to {flows} flows")),
        }
        let decided = said.join(", ");
        let alike = self.least.iter().find(|least| !least.differs).map(|least| {
            let whose = match (least.flows, self.flows) {
                (_, 1) => "the only flow".to_owned(),
                (flows, all) if flows == all => format!("all {all} flows"),
                (1, _) => "1 flow".to_owned(),
                (flows, _) => format!("{flows} flows"),
            };
            let word = if start.is_empty() && decided.is_empty() { "For" } else { "for" };
            format!("{word} {whose} no 99th percentile delay differs from another by more than {} %", SAME * 100.0)
        });
        let text = [Some(decided).filter(|text| !text.is_empty()), alike].into_iter().flatten().collect::<Vec<_>>();
        let text = if text.is_empty() { "No packet was sent".to_owned() } else { text.join("; ") };
        let mut text = format!("{start}{text}.");
        if self.dropped.iter().any(|lane| lane.ratio > 0.0) {
            let each = self.dropped.iter().map(|lane| format!("{} {}", lane.discipline, percent(lane.ratio)));
            text += &format!(" Packets dropped: {}.", each.collect::<Vec<_>>().join(", "));
        }
        text
    }

    fn whose(&self, least: &Least) -> String {
        let Least { flows, busiest, .. } = least;
        match (*flows, self.flows) {
            (_, 1) => format!("the only flow, {busiest}"),
            (1, all) => format!("1 of {all} flows ({busiest})"),
            (flows, all) => format!("{flows} of {all} flows (busiest: {busiest})"),
        }
    }
}

/// A ratio in percent, with two digits behind the point at most.
fn percent(ratio: f64) -> String {
    match ratio * 100.0 {
        0.0 => "0 %".to_owned(),
        little if little < 0.01 => "below 0.01 %".to_owned(),
        percent => format!("{percent:.2} %"),
    }
}

#[cfg(test)]
mod tests;
