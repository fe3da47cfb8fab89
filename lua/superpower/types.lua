---@meta
--- What the engine tells, as types. Nothing here runs.

---@class superpower.Opts what `setup` and `vim.g.superpower` take; see |superpower-options|
---@field harness? string
---@field harnesses? table<string, { cmd?: string[], args?: string[] }>
---@field trust? "ask"|"always"
---@field conditions? table<string, fun(ctx: superpower.FactContext): boolean, string?>
---@field timeout? string
---@field idle? string
---@field permission_timeout? string
---@field places? string[]
---@field keep_runs? integer
---@field max_output? integer
---@field max_log? integer
---@field inputs? "form"|"ui"
---@field progress? { open?: boolean, position?: "right"|"bottom"|"split", width?: integer, height?: integer }
---@field gate? { open?: boolean, delay?: integer }
---@field notify? "all"|"attention"|"none"
---@field bell? "unfocused"|"always"|"never"
---@field resume_notice? boolean
---@field hints? boolean
---@field icons? "unicode"|"nerd"|"ascii"
---@field border? string

---@class superpower.Fault an answer of the engine that is not a value
---@field code string kebab-case
---@field message string for people
---@field data? table<string, any>

---@alias superpower.Callback fun(err: superpower.Fault?, value: any)

---@class superpower.FactContext what a function in `conditions` is given
---@field root string
---@field inputs table<string, string|boolean>
---@field stage integer

---@class superpower.Input
---@field name string
---@field type "string"|"bool"|"enum"
---@field required boolean
---@field description? string
---@field default? string|boolean
---@field enum? string[]

---@class superpower.Stage
---@field position integer
---@field name? string
---@field label string
---@field kind "agent"|"skill"|"pipeline"|"gate"
---@field actor? string
---@field mark "waiting"|"running"|"passed"|"skipped"|"failed"|"gate"|"approved"|"limited"|"held"
---@field note? string
---@field gate boolean
---@field visit integer
---@field attempt integer
---@field max_attempts integer
---@field since? integer when it began what it is doing
---@field elapsed_ms? integer at the time of the snapshot
---@field output? boolean

---@class superpower.Live
---@field stage integer
---@field todo { text: string, status: string }[]
---@field tool? string
---@field text? string
---@field waiting? string
---@field checkpoint? string

---@class superpower.GateRef
---@field id string
---@field stage integer
---@field visit integer
---@field label string

---@class superpower.Snapshot
---@field run_id string
---@field superpower string
---@field version? string
---@field root string
---@field state "running"|"paused"|"complete"|"cancelled"|"rejected"
---@field reason? "gate"|"interrupted"|"user"|"failed"|"blocked"|"auth"|"needs-human"
---@field detail? string
---@field current_stage integer
---@field total integer
---@field started_at integer
---@field ended_at? integer
---@field active_ms? integer
---@field ours boolean
---@field driver? { pid: integer }
---@field gate? superpower.GateRef
---@field waiting_until? integer
---@field pausing? boolean
---@field summary? string
---@field stages superpower.Stage[]
---@field live? superpower.Live
---@field usage? { tokens?: integer, cost?: number }
---@field received? integer when it came here
---@field facts? { name: string, value: boolean, reason: string, stage: integer }[]
---@field checkpoint_waiting? string why the newest checkpoint is not written yet

---@class superpower.ReviewFile
---@field path string
---@field status "+"|"~"|"-"
---@field added? integer
---@field removed? integer

---@class superpower.Review
---@field run_id string
---@field gate string
---@field label string
---@field message? string
---@field from? integer
---@field files superpower.ReviewFile[]
---@field note? string

---@alias superpower.Chunk { [1]: string, [2]: string? } text and highlight group
---@alias superpower.Line superpower.Chunk[]
