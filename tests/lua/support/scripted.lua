-- A replacement of the native library, for specs of windows: operations are answered from a script, and the spec sends
-- events. The editor is a real one.
--
--   local S = require("support.scripted")
--   local nvim = S.child({ columns = 120, lines = 30 })
--   S.answer(nvim, "review", { … })            what an operation answers; S.refuse(nvim, op, err) refuses it
--   S.send(nvim, { type = "snapshot", … })     as if polled
--   S.calls(nvim, "decide")                    what was asked so far, in order
--   S.run({ … })                               a snapshot of a run, at its fourth stage unless told otherwise

local T = require("harness")

local S = {}

S.engine = [[
  local answers, refusals, calls, handlers = {}, {}, {}, {}
  local M = { root = function() return vim.env.SP_ROOT end, info = function() end, paths = function() return {} end }
  function M.call(op, fields)
    table.insert(calls, { op = op, fields = vim.deepcopy(fields or {}) })
    local queue = refusals[op]
    if queue and #queue > 0 then
      return nil, table.remove(queue, 1)
    end
    if op == "read-file" then -- a file of the project, or one that the spec has written elsewhere
      local file = io.open(fields.path, "rb") or io.open(fields.root .. "/" .. fields.path, "rb")
      local text = file and file:read("*a")
      if file then file:close() end
      local from = text and math.max(0, #text + fields.from)
      return text and { text = text:sub(from + 1, from + fields.most), from = from, size = #text }
    end
    return answers[op]
  end
  function M.on(type, fn)
    handlers[type] = handlers[type] or {}
    table.insert(handlers[type], fn)
  end
  M.script = {
    answer = function(op, value) answers[op] = value end,
    refuse = function(op, err)
      refusals[op] = refusals[op] or {}
      table.insert(refusals[op], err)
    end,
    send = function(event)
      if event.type == "snapshot" then answers.status = event.run end
      for _, name in ipairs({ event.type, "*" }) do
        for _, fn in ipairs(handlers[name] or {}) do fn(event) end
      end
    end,
    calls = function(op)
      return vim.tbl_map(function(call) return call.fields end,
        vim.tbl_filter(function(call) return call.op == op end, calls))
    end,
  }
  answers.configure, answers.answer, answers.list = {}, {}, {}
  package.loaded["superpower.engine"] = M
  package.loaded["superpower.requests"] = {
    ask = function(op, fields, callback)
      vim.schedule(function() callback(M.call(op, fields)) end)
    end,
  }
]]

---@param opts? table as T.child's; `config` is vim.g.superpower
function S.child(opts)
  opts = vim.tbl_extend("force", { columns = 120, lines = 30, plugin = true }, opts or {})
  local init = opts.init or ""
  opts.init = S.engine .. "\n" .. init
  local nvim = T.child(opts)
  S.answer(nvim, "project", { root = nvim.project })
  nvim:lua("require('superpower.boot').load('session').call('list', {})")
  return nvim
end

--- Attaches a real user interface in a terminal to the child.
function S.attach_ui(nvim)
  local address = nvim:lua("return vim.fn.serverstart()")
  local job = vim.fn.jobstart({ vim.v.progpath, "--server", address, "--remote-ui" }, {
    pty = true,
    width = 100,
    height = 30,
    env = { TERM = "xterm-256color" },
  })
  T.finally(function()
    vim.fn.jobstop(job)
  end)
  T.wait(function()
    local answered, count = pcall(nvim.lua, nvim, "return #vim.api.nvim_list_uis()")
    if not answered then
      nvim:feed("<CR>") -- on a busy machine the editor may show a prompt while the user interface attaches
    end
    return answered and count > 0
  end, 8000, "the user interface")
end

function S.answer(nvim, op, value)
  nvim:lua("local op, value = ...; require('superpower.engine').script.answer(op, value)", op, value)
end

function S.refuse(nvim, op, err)
  nvim:lua("local op, err = ...; require('superpower.engine').script.refuse(op, err)", op, err)
end

--- Sends an event on the main loop, as the real library does.
function S.send(nvim, event)
  event.root = event.root or nvim.project
  if event.run then
    event.run.root = nvim.project
  end
  nvim:lua("local event = ...; vim.schedule(function() require('superpower.engine').script.send(event) end)", event)
end

function S.calls(nvim, op)
  return nvim:lua("return require('superpower.engine').script.calls(...)", op)
end

local labels = {
  "Spec intake: PROBLEM → SPEC → PLAN → TASKS → story files",
  "Await TASKS.md approval before design begins",
  "UX research: personas + journey map",
  "Wireframes for all story screens",
  "Await wireframe approval",
  "Visual identity: palette + typography + token seed",
  "Await palette approval",
  "Emit CSS vars and Tailwind config",
}
local actors =
  { "spec-kit", nil, "ux-researcher", "wireframe-architect", nil, "visual-identity-designer", nil, "tokens" }

--- A run of eight stages. `at` is the current one; those before it passed.
function S.run(opts)
  opts = opts or {}
  local at = opts.at or 4
  local now = os.time() * 1000
  local run = {
    run_id = "0190-abc",
    superpower = "new-ui-feature",
    version = "1.0.0",
    state = opts.state or "running",
    reason = opts.reason,
    detail = opts.detail,
    current_stage = at,
    total = #labels,
    started_at = now - 761000,
    active_ms = 761000,
    ours = opts.ours ~= false,
    gate = opts.gate,
    summary = opts.summary,
    stages = {},
    live = opts.live,
    usage = opts.usage or {},
    facts = {},
  }
  for position, label in ipairs(labels) do
    local gate = actors[position] == nil
    local mark = position < at and (gate and "approved" or "passed") or "waiting"
    if position == at then
      mark = opts.mark or (run.state == "running" and "running" or (gate and "gate" or "failed"))
    end
    local note = position < at and gate and "approved" or (gate and position > at and "gate" or nil)
    table.insert(run.stages, {
      position = position,
      label = label,
      kind = gate and "gate" or "agent",
      actor = actors[position],
      mark = mark,
      note = position == at and opts.note or note,
      limited_until = position == at and opts.limited_until or nil,
      again_at = position == at and opts.again_at or nil,
      gate = gate,
      visit = 1,
      attempt = 1,
      max_attempts = 3,
      since = position == at and now - 67000 or nil,
      elapsed_ms = position < at and 48000 * position or (position == at and 67000 or 0),
    })
  end
  return run
end

--- The same run, waiting at its gate.
function S.at_gate(opts)
  opts = vim.tbl_extend("force", { at = 5, state = "paused", reason = "gate" }, opts or {})
  opts.gate = opts.gate or { id = "5.1", stage = 5, visit = 1, label = labels[5] }
  return S.run(opts)
end

S.review = {
  run_id = "0190-abc",
  gate = "5.1",
  label = labels[5],
  review = "1a2b3c4d5e6f",
  from = 4,
  message = "# Wireframes for reset-password\n\nThree screens, tab order noted. The expired-link state reuses "
    .. "the error **banner** of login.",
  files = {
    { path = "docs/design/wireframes/reset.md", status = "+", added = 84, removed = 0 },
    { path = "docs/stories/reset-password-1/Story.md", status = "~", added = 3, removed = 1 },
  },
}

return S
