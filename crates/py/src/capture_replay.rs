//! `fairq replay`: opens the capture, reads the options, replays, and writes what became of each
//! packet.

use crate::errors::reason;
use crate::parquet::{About, Cell, Column, Kind, Table};
use fairq_link::capture::{Frame, Reader, Stamp, Writer};
use fairq_replay::{
    Gateways, Options, Outcome, PacketFate, Progress, Replay, ReplayError, Report, Sink, Stream, replay_capture,
};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

/// Why there is no replay; each is one line.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An option is wrong.
    Usage(String),
    /// The capture is wrong.
    Capture(String),
    /// The output cannot be written.
    Output(String, Option<i32>),
    /// The progress callback asked to stop.
    Stopped,
}

/// Replays the capture at `path` as the JSON object `options` says, and gives the report.
/// `progress` is told the part done, the simulated seconds and the packets so far, and says whether
/// to go on. What `out` names is an empty folder that the caller made and removes if this fails.
///
/// # Errors
/// One line.
pub(crate) fn replay(
    path: &str,
    options: &str,
    progress: &mut dyn FnMut(f64, f64, u64) -> bool,
) -> Result<Report, Failure> {
    let usage = |fault: fairq_text::Fault| match fault.path.as_str() {
        "" => Failure::Usage(one_line(&fault.message)),
        path => Failure::Usage(one_line(&format!("{path}: {}", fault.message))),
    };
    let options = Options::read(options).map_err(usage)?;
    let mut settings = options.settings().map_err(usage)?;
    let (me, only) = (options.me().map_err(usage)?, options.filter().map_err(usage)?);
    if options.out.as_deref() == Some("") {
        return Err(Failure::Usage("out: is empty; give the name of a folder".to_owned()));
    }

    let (file, length) = open(path)?;
    let mut reader = Reader::new(file, path).map_err(|error| Failure::Capture(error.to_string()))?;
    let command = format!("fairq replay {path}{} --buffer {}", given(&options), options.buffer);
    if let Some(out) = &options.out {
        let lanes = settings.iter_mut().flat_map(|settings| {
            let direction = settings.direction;
            settings.lanes.iter_mut().enumerate().map(move |(at, lane)| (direction, at, lane))
        });
        for (direction, at, lane) in lanes {
            let mut folder = Path::new(out).join(folder_name(&lane.name, at + 1));
            if let Some(direction) = direction {
                folder.push(direction.name());
            }
            std::fs::create_dir_all(&folder).map_err(|cause| not_written(&failed(&folder, &cause)))?;
            let source = format!("{command} --discipline \"{}\"", lane.name);
            let files = Files::new(&folder, About { source: &source, seed: Some(options.seed) });
            lane.sink = Some(Box::new(files.map_err(|cause| not_written(&cause))?));
        }
    }

    let replays = settings.into_iter().map(Replay::new).collect::<Result<Vec<_>, _>>();
    let gateways = Gateways::new(me, replays.map_err(|error| Failure::Usage(error.to_string()))?);
    let mut told = |at: &Progress| progress(part(at.bytes_read, length), at.now.as_s(), at.packets);
    let stream = Stream { name: path, gap_max: options.gap_max, only: only.as_ref() };
    let mut report = replay_capture(&mut reader, &stream, gateways, &mut told).map_err(|error| match error {
        ReplayError::Stopped => Failure::Stopped,
        ReplayError::Capture(_) | ReplayError::NoPacket { .. } => Failure::Capture(error.to_string()),
        ReplayError::Sink { cause, .. } => not_written(&cause),
        other => Failure::Usage(other.to_string()),
    })?;
    report.capture.buffer = Some(options.buffer.to_string());
    Ok(report)
}

/// The options of the lines and of the filter, as on the command line.
fn given(options: &Options) -> String {
    let Options { rate, me, down, up, only, .. } = options;
    let rates =
        [("rate", rate), ("down", down), ("up", up)].map(|(name, rate)| (name, rate.map(|rate| rate.to_string())));
    let texts =
        [("me", me), ("only", only)].map(|(name, text)| (name, text.as_ref().map(|text| format!("\"{text}\""))));
    let said =
        rates.into_iter().chain(texts).filter_map(|(name, value)| value.map(|value| format!(" --{name} {value}")));
    said.collect()
}

/// The file and its length.
pub(crate) fn open(path: &str) -> Result<(File, u64), Failure> {
    let cannot = |cause: io::Error| {
        let said = reason(&cause);
        Failure::Capture(format!("{path}: cannot be opened: {said}; give the path of a pcap or pcapng file"))
    };
    let file = File::open(path).map_err(cannot)?;
    let about = file.metadata().map_err(cannot)?;
    if about.is_dir() {
        return Err(Failure::Capture(format!("{path}: is a folder; give a pcap or pcapng file in it")));
    }
    Ok((file, about.len()))
}

/// A file or folder that cannot be written.
#[derive(Debug)]
struct Unwritable {
    path: PathBuf,
    cause: String,
    errno: Option<i32>,
}

impl std::fmt::Display for Unwritable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: cannot be written: {}; choose another folder with --out", self.path.display(), self.cause)
    }
}

impl std::error::Error for Unwritable {}

/// The failure that an error of [`failed`], or of a sink that gave one, is.
fn not_written(cause: &io::Error) -> Failure {
    let inner = cause.get_ref().and_then(|inner| inner.downcast_ref::<Unwritable>());
    Failure::Output(reason(cause), inner.map_or(cause.raw_os_error(), |inner| inner.errno))
}

/// The part of a capture that was read, 0 to 1; 0 for a pipe, which has no length.
fn part(read: u64, length: u64) -> f64 {
    if length == 0 { 0.0 } else { (read as f64 / length as f64).min(1.0) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text form of the discipline with this `number` as the name of a folder on any system:
/// `fq(delta=1000B)+port_pair`. Of a long one the beginning, and the number.
fn folder_name(discipline: &str, number: usize) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || "_-.=+()[],".contains(c) { c } else { '_' };
    let name: String = discipline.chars().filter(|c| !c.is_whitespace()).map(allowed).collect();
    // Every letter is a byte now.
    if name.len() > FOLDER_MAX { format!("{}_{number}", &name[..FOLDER_MAX]) } else { name }
}

/// Letters of a folder's name; file systems take 255 bytes.
const FOLDER_MAX: usize = 100;

/// `packets.parquet` and `capture.pcapng` of a discipline.
struct Files {
    /// Nothing once they are finished.
    open: Option<(Table<File>, Writer<BufWriter<File>>)>,
    /// What time zero is.
    zero: Stamp,
    /// Where the two are, for messages.
    paths: [PathBuf; 2],
}

const COLUMNS: [Column; 7] = [
    Column::new("packet", Kind::U64),
    Column::new("flow", Kind::Text),
    Column::new("bytes", Kind::U64),
    Column::new("arrival_ps", Kind::U64),
    Column::nullable("departure_ps", Kind::U64),
    Column::nullable("reason", Kind::Text),
    Column::new("marked", Kind::Bool),
];

impl Files {
    fn new(folder: &Path, about: About<'_>) -> io::Result<Self> {
        let paths = ["packets.parquet", "capture.pcapng"].map(|name| folder.join(name));
        let create = |at: usize| File::create_new(&paths[at]).map_err(|cause| failed(&paths[at], &cause));
        let table = Table::new(create(0)?, &COLUMNS, about).map_err(|cause| failed(&paths[0], &cause))?;
        let writer = Writer::new(BufWriter::new(create(1)?)).map_err(|cause| failed(&paths[1], &cause))?;
        Ok(Self { open: Some((table, writer)), zero: Stamp::default(), paths })
    }
}

impl Sink for Files {
    fn wants_bytes(&self) -> bool {
        true
    }

    fn begin(&mut self, zero: Stamp) {
        self.zero = zero;
    }

    fn fate(&mut self, fate: &PacketFate<'_>) -> io::Result<()> {
        let Some((table, writer)) = &mut self.open else { return Ok(()) };
        let (departure, reason) = match fate.outcome {
            Outcome::Sent(time) => (Cell::U64(time.0), Cell::Null),
            Outcome::Dropped(reason) => (Cell::Null, Cell::Text(reason.name())),
        };
        let cells = [
            Cell::U64(fate.packet),
            Cell::Text(fate.flow_name),
            Cell::U64(u64::from(fate.length)),
            Cell::U64(fate.arrival.0),
            departure,
            reason,
            Cell::Bool(fate.is_marked),
        ];
        table.row(&cells).map_err(|cause| failed(&self.paths[0], &cause))?;
        if let (Outcome::Sent(time), Some(captured)) = (fate.outcome, fate.captured) {
            let stamp = Stamp(self.zero.0 + i128::from(time.0));
            let frame = Frame { stamp, length: fate.length, link_type: captured.link_type, data: &captured.data };
            writer.write(&frame).map_err(|cause| failed(&self.paths[1], &cause))?;
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        let Some((table, writer)) = self.open.take() else { return Ok(()) };
        table.finish().map_err(|cause| failed(&self.paths[0], &cause))?;
        writer.finish().map_err(|cause| failed(&self.paths[1], &cause))?;
        Ok(())
    }
}

/// An error that names the file and the cause.
fn failed(path: &Path, cause: &io::Error) -> io::Error {
    let (path, errno) = (path.to_owned(), cause.raw_os_error());
    io::Error::new(cause.kind(), Unwritable { path, cause: reason(cause), errno })
}
