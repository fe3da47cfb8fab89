//! The lines that Claude Code prints, with the fields that are used.

use crate::harness::lenient_fields::{List, Number, Object, Text};
use serde::Deserialize;
use serde_json::Value;

/// A line of any type.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Line<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub subtype: Text<'a>,
    #[serde(borrow)]
    pub session_id: Text<'a>,
    #[serde(borrow)]
    pub parent_tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub message: Object<Message<'a>>,
    /// `user`: a tool's structured result.
    #[serde(borrow)]
    pub tool_use_result: Object<ToolUseResult<'a>>,
    /// `stream_event`: the provider's event.
    #[serde(borrow)]
    pub event: Object<StreamEvent<'a>>,
    /// `assistant`, `api_retry`: the error's name.
    #[serde(borrow)]
    pub error: Text<'a>,
    /// `api_retry`.
    pub attempt: Number,
    pub max_retries: Number,
    pub retry_delay_ms: Number,
    pub error_status: Number,
    /// `permission_denied`, and tasks.
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub task_id: Text<'a>,
    #[serde(borrow)]
    pub description: Text<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
    pub is_backgrounded: Number,
    #[serde(borrow)]
    pub task_type: Text<'a>,
    /// `background_tasks_changed`.
    #[serde(borrow)]
    pub tasks: Option<List<'a, Task<'a>>>,
    #[serde(borrow)]
    pub patch: Object<Task<'a>>,
    /// `rate_limit_event`.
    #[serde(borrow)]
    pub rate_limit_info: Object<RateLimit<'a>>,
    /// `control_request` and `control_response`.
    #[serde(borrow)]
    pub request_id: Text<'a>,
    #[serde(borrow)]
    pub request: Object<Request<'a>>,
    #[serde(borrow)]
    pub response: Object<Response<'a>>,
    /// `result`.
    pub is_error: Number,
    #[serde(borrow)]
    pub result: Text<'a>,
    pub errors: Option<Value>,
    pub api_error_status: Number,
    #[serde(borrow)]
    pub terminal_reason: Text<'a>,
    pub num_turns: Number,
    pub total_cost_usd: Number,
    pub usage: Object<Tokens>,
    #[serde(rename = "modelUsage")]
    pub model_usage: Object<Models>,
    pub model_usage_since_last_result: Object<Models>,
    #[serde(borrow)]
    pub permission_denials: List<'a, Denial<'a>>,
    pub queued_turn_count: Number,
}

/// A message of the user or the agent.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Message<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub model: Text<'a>,
    #[serde(borrow)]
    pub content: List<'a, Block<'a>>,
    pub usage: Object<Tokens>,
}

/// A piece of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Text<'a>,
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub name: Text<'a>,
    pub input: Value,
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    pub is_error: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct ToolUseResult<'a> {
    #[serde(borrow)]
    pub task: Object<Task<'a>>,
    #[serde(borrow)]
    pub tasks: List<'a, Task<'a>>,
}

/// An entry of the to-do list, or a background task.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Task<'a> {
    #[serde(borrow)]
    pub id: Text<'a>,
    #[serde(borrow)]
    pub task_id: Text<'a>,
    #[serde(borrow)]
    pub subject: Text<'a>,
    #[serde(borrow)]
    pub status: Text<'a>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct StreamEvent<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub delta: Object<Delta<'a>>,
    #[serde(borrow)]
    pub message: Object<Message<'a>>,
    pub usage: Object<Tokens>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    #[serde(borrow)]
    pub text: Text<'a>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Tokens {
    pub input_tokens: Number,
    pub output_tokens: Number,
    pub cache_creation_input_tokens: Number,
    pub cache_read_input_tokens: Number,
}

impl Tokens {
    /// All tokens, cached ones included.
    pub fn sum(&self) -> u64 {
        let all = [
            self.input_tokens,
            self.output_tokens,
            self.cache_creation_input_tokens,
            self.cache_read_input_tokens,
        ];
        all.iter().map(|n| n.count()).sum()
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Models(std::collections::BTreeMap<String, Object<Model>>);

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Model {
    input_tokens: Number,
    output_tokens: Number,
    cache_read_input_tokens: Number,
    cache_creation_input_tokens: Number,
    #[serde(rename = "costUSD")]
    cost: Number,
}

impl Models {
    /// Tokens of all models, cached ones included, and their cost in US dollars.
    pub fn sum(&self) -> (u64, f64) {
        self.0.values().filter_map(Object::get).fold((0, 0.0), |(tokens, cost), m| {
            let all =
                [m.input_tokens, m.output_tokens, m.cache_read_input_tokens, m.cache_creation_input_tokens];
            (tokens + all.iter().map(|n| n.count()).sum::<u64>(), cost + m.cost.amount().unwrap_or_default())
        })
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Denial<'a> {
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    pub tool_input: Value,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RateLimit<'a> {
    #[serde(borrow)]
    pub status: Text<'a>,
    pub resets_at: Number,
    #[serde(borrow)]
    pub rate_limit_type: Text<'a>,
}

/// A request from Claude Code.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Request<'a> {
    #[serde(borrow)]
    pub subtype: Text<'a>,
    #[serde(borrow)]
    pub tool_name: Text<'a>,
    pub input: Value,
    #[serde(borrow)]
    pub tool_use_id: Text<'a>,
    #[serde(borrow)]
    pub description: Text<'a>,
    pub permission_suggestions: Value,
}

/// Claude Code's response to our request.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Response<'a> {
    #[serde(borrow)]
    pub subtype: Text<'a>,
    #[serde(borrow)]
    pub request_id: Text<'a>,
}
