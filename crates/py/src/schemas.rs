//! The JSON Schemas of the documents that Rust makes: a line for each. Documents that Python makes
//! are in `python/fairq/schemas.py`. `cargo xtask generate` writes those of scenarios, studies and
//! results into `schema/` for editors.

use fairq_audit::document::Document;
use fairq_bench::Measured;
use fairq_experiment::reference::{Entry, Explained, Played};
use fairq_experiment::{described, scenario, study};
use fairq_replay::Report;
use fairq_serve::Document as Served;
use fairq_topologies::summary::Summary;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// The name of a schema, which is that of the command whose document it is of, and what makes it.
type Made = (&'static str, fn() -> Value);

pub(crate) const SCHEMAS: [Made; 12] = [
    ("scenario", scenario::schema),
    ("study", study::schema),
    ("result", described::schema),
    ("replay", of::<Report>),
    ("serve", of::<Served>),
    ("topology", of::<Summary>),
    ("audit", of::<Document>),
    ("list", of::<Vec<Entry>>),
    ("explain", of::<Explained>),
    ("explain-scenes", of::<Vec<Played>>),
    ("theory-max-min", described::shares),
    ("bench-disciplines", of::<Measured>),
];

/// The schema of what `T` is written as. Its objects are closed: no other member is allowed.
fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with_transform(Closed);
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// Closes each object that has named members, unless it says itself what other members it may have.
#[derive(Clone, Debug)]
struct Closed;

impl Transform for Closed {
    fn transform(&mut self, schema: &mut Schema) {
        if schema.get("properties").is_some() && schema.get("additionalProperties").is_none() {
            schema.insert("additionalProperties".to_owned(), false.into());
        }
        transform_subschemas(self, schema);
    }
}
