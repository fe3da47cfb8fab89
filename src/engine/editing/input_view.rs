//! The JSON of an input, for windows that ask for its value.

use crate::declaration::model::{Input, InputKind};
use serde_json::{Value, json};

pub fn input_view(input: &Input) -> Value {
    let (kind, values) = match &input.kind {
        InputKind::String => ("string", None),
        InputKind::Bool => ("bool", None),
        InputKind::Enum(values) => {
            ("enum", Some(values.iter().map(|value| &value.value).collect::<Vec<_>>()))
        }
    };
    json!({
        "name": input.name.value, "type": kind, "required": input.required,
        "description": input.description.as_ref().map(|text| &text.value),
        "default": input.default.as_ref().map(|default| &default.value), "enum": values,
    })
}
