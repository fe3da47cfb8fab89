--- Renders a snapshot as lines of chunks. Pure: the same snapshot, size and time give the same lines.
local text = require("superpower.base.text")
local icons = require("superpower.ui.icons")
local run_text = require("superpower.ui.run_text")

local M = {}

---@class superpower.RenderOpts
---@field width integer
---@field height integer available rows; stages that do not fit are folded
---@field now integer ms since the epoch
---@field received? integer when the snapshot arrived; the elapsed time is counted from here
---@field icons "unicode"|"nerd"|"ascii"

---@class superpower.Rendered
---@field lines superpower.Line[]
---@field stages table<integer, integer> row (from 1) to the stage's position

--- Builds the right side of a stage: a note and a time, each in its column if they fit.
---@param stage superpower.Stage
---@param opts superpower.RenderOpts
---@return superpower.Line, integer cells
local function right_side(stage, opts)
  local group = (stage.mark == "failed" and "SuperpowerFailed")
    or ((stage.mark == "gate" or stage.mark == "limited" or stage.mark == "held") and "SuperpowerGate")
    or "SuperpowerNote"
  local note = text.line(stage.note or "")
  if stage.limited_until then
    note = ("%s until %s"):format(note, run_text.clock(stage.limited_until))
  elseif stage.again_at then
    -- It is at most half a minute away, so the seconds matter.
    note = ("%s, again at %s"):format(note, os.date("%H:%M:%S", math.floor(stage.again_at / 1000)))
  end
  local elapsed = stage.elapsed_ms
  if elapsed and stage.since and opts.received then
    elapsed = elapsed + math.max(0, opts.now - opts.received)
  end
  -- A gate that waits shows no time: no timer is active meanwhile, and a clock that does not move would be wrong.
  local still = stage.mark == "waiting" or stage.mark == "skipped" or stage.mark == "gate"
  local clock = (still or elapsed == 0) and "" or text.clock(elapsed)
  if note == "" and clock == "" then
    return {}, 0
  end
  local most = math.floor(opts.width / 2)
  if clock == "" then
    note = text.cut(note, most)
    local cells = math.min(most, math.max(20, text.width(note)))
    return { { text.fit(note, cells), group } }, cells
  end
  if note == "" then
    return { { text.right(clock, 7), "SuperpowerTime" } }, 7
  end
  local cells = math.min(most - 7, math.max(13, text.width(note)))
  return { { text.fit(note, cells), group }, { text.right(clock, 7), "SuperpowerTime" } }, cells + 7
end

---@param stage superpower.Stage
---@param digits integer
---@param opts superpower.RenderOpts
---@return superpower.Line
local function stage_line(stage, digits, opts)
  local mark, group = icons.icon(opts.icons, stage.mark, opts.now)
  local head = (" %s %s "):format(mark, text.right(tostring(stage.position), digits))
  local right, cells = right_side(stage, opts)
  local room = opts.width - text.width(head) - cells - (cells > 0 and 2 or 1)
  local line = {
    { " " .. mark, group },
    { head:sub(#mark + 2), "SuperpowerNumber" },
    {
      text.fit(text.line(stage.label), math.max(4, room)),
      stage.mark == "waiting" and "SuperpowerDim" or "SuperpowerLabel",
    },
  }
  if cells > 0 then
    table.insert(line, { " " })
    vim.list_extend(line, right)
  end
  return line
end

--- Returns a stage as it is after the run was ended: nothing waits or works any more.
---@param stage superpower.Stage
---@param run superpower.Snapshot
---@return superpower.Stage
local function as_it_ended(stage, run)
  local was_active = stage.mark == "gate" or stage.mark == "running" or stage.mark == "held" or stage.mark == "limited"
  if not was_active or (run.state ~= "rejected" and run.state ~= "cancelled") then
    return stage
  end
  local mark = run.state == "rejected" and "failed" or "skipped"
  return vim.tbl_extend("force", stage, { mark = mark, note = run.state, elapsed_ms = 0 })
end

---@param todo { text: string, status: string }[]
---@param indent string
---@param opts superpower.RenderOpts
---@return superpower.Line
local function todo_line(todo, indent, opts)
  local line, used = { { indent } }, #indent
  local from = 1
  for index, item in ipairs(todo) do
    if item.status ~= "completed" then
      from = math.max(1, index - 1)
      break
    end
  end
  for index = from, #todo do
    local item = todo[index]
    local done, active = item.status == "completed", item.status == "in_progress"
    local mark = icons.icon(opts.icons, done and "passed" or (active and "open" or "waiting"), 0)
    local piece = ("%s %s  "):format(mark, text.line(item.text))
    local room = opts.width - used
    if room < 6 then
      break
    end
    piece = text.cut(piece, room)
    used = used + text.width(piece)
    table.insert(line, { piece, done and "SuperpowerPassed" or (active and "SuperpowerRunning" or "SuperpowerDim") })
  end
  return line
end

--- Builds the lines below the active stage.
---@param run superpower.Snapshot
---@param opts superpower.RenderOpts
---@param digits integer
---@return superpower.Line[]
local function live_lines(run, opts, digits)
  local live = run.live
  if not live then
    return {}
  end
  local out, indent = {}, (" "):rep(digits + 4)
  local room = opts.width - #indent - 1
  if live.waiting and live.waiting ~= "" then
    table.insert(out, { { indent }, { text.cut(text.line(live.waiting), room), "SuperpowerGate" } })
  end
  if live.todo and #live.todo > 0 then
    table.insert(out, todo_line(live.todo, indent, opts))
  end
  if live.checkpoint then
    table.insert(out, { { indent }, { text.cut(text.line(live.checkpoint), room), "SuperpowerDim" } })
  end
  if live.tool and live.tool ~= "" then
    table.insert(out, { { indent }, { text.cut(text.line(live.tool), room), "SuperpowerTool" } })
  end
  local said = text.line(live.text or ""):gsub("^#+%s+", "") -- the marks of a heading mean nothing in one line
  if said ~= "" then
    table.insert(out, { { indent }, { text.cut(said, room), "SuperpowerText" } })
  end
  return out
end

--- Builds `… 6 passed, 2 skipped`, for stages that do not fit.
---@param stages superpower.Stage[]
---@param first integer
---@param last integer
---@return superpower.Line
local function folded(stages, first, last)
  local counts, order = {}, {}
  for index = first, last do
    local mark = stages[index].mark
    mark = mark == "approved" and "passed" or mark
    if not counts[mark] then
      counts[mark] = 0
      table.insert(order, mark)
    end
    counts[mark] = counts[mark] + 1
  end
  local parts = {}
  for _, mark in ipairs(order) do
    table.insert(parts, ("%d %s"):format(counts[mark], mark == "waiting" and "more" or mark))
  end
  return { { "   … " .. table.concat(parts, ", "), "SuperpowerDim" } }
end

--- Chooses the stages that get a row: all if they fit, else those around the current one.
---@param run superpower.Snapshot
---@param rows integer
---@return integer first, integer last
local function window(run, rows)
  local total = #run.stages
  if total <= rows then
    return 1, total
  end
  local current = math.max(1, math.min(run.current_stage, total))
  if current <= math.ceil(rows / 2) then
    return 1, math.max(1, rows - 1)
  elseif current > total - math.ceil(rows / 2) then
    return math.min(total, total - rows + 2), total
  end
  local room = math.max(1, rows - 2)
  local first = math.max(2, current - math.floor(room / 2))
  return first, math.min(total, first + room - 1)
end

--- Returns what a run that is not active waits for, and the command that answers.
---@param run superpower.Snapshot
---@return string
function M.waits(run)
  if run.state ~= "paused" then
    return run.state
  elseif run.reason == "gate" then
    return "waits for you: :Superpower gate"
  elseif run.reason == "failed" then
    return "failed: :Superpower retry, skip or cancel"
  elseif run.reason == "needs-human" then
    return "asks: :Superpower retry ANSWER"
  elseif run.reason == "trust" then
    return "waits for your trust: :Superpower resume"
  end
  return (run.reason or "paused") .. ": :Superpower resume"
end

--- Builds the last line, for a run that has ended or waits.
---@param run superpower.Snapshot
---@return superpower.Line[]
local function last_lines(run, opts)
  if run.state == "running" then
    if run.silent then
      return { { { text.cut(" the driver does not answer", opts.width - 2), "SuperpowerGate" } } }
    end
    if run.checkpoint_waiting then
      local why = "metadata.json is not written yet: " .. text.line(run.checkpoint_waiting)
      return { { { " " .. text.cut(why, opts.width - 2), "SuperpowerGate" } } }
    end
    if run.pausing then
      return { { { " pauses after this stage", "SuperpowerGate" } } }
    end
    if run_text.is_manual(run) then
      local who = run.ours and "waits for your result: :Superpower gate, or skip"
        or "a manual stage, open in another editor"
      return { { { " " .. text.cut(who, opts.width - 2), "SuperpowerGate" } } }
    end
    return {}
  end
  local said = run.summary
  if not said or said == "" then
    said = run.detail
  end
  if not said or said == "" then
    said = M.waits(run)
  end
  local group = "SuperpowerNote"
  if run.state == "paused" then
    group = (run.reason == "gate" or run.reason == "user" or run.reason == "interrupted") and "SuperpowerGate"
      or "SuperpowerFailed"
  elseif run.state == "complete" then
    group = "SuperpowerPassed"
  end
  local out = {}
  for _, line in ipairs(text.wrap(text.line(said), opts.width - 2)) do
    table.insert(out, { { " " .. line, group } })
    if #out == 4 then
      break
    end
  end
  return out
end

--- Renders the body of the progress window.
---@param run superpower.Snapshot
---@param opts superpower.RenderOpts
---@return superpower.Rendered
function M.progress(run, opts)
  local digits = math.max(2, #tostring(#run.stages))
  local live = run.state == "running" and live_lines(run, opts, digits) or {}
  local footer = last_lines(run, opts)
  if #footer > 0 and #run.stages + #live + #footer < opts.height then
    table.insert(footer, 1, { { "" } })
  end
  while #live > 0 and opts.height - #live - #footer < math.min(3, #run.stages) do
    table.remove(live)
  end
  local rows = math.max(1, opts.height - #live - #footer)
  local first, last = window(run, rows)
  local out = { lines = {}, stages = {} } ---@type superpower.Rendered
  if first > 1 then
    table.insert(out.lines, folded(run.stages, 1, first - 1))
  end
  local unfolds = run.live and run.live.stage or run.current_stage
  for index = first, last do
    local stage = as_it_ended(run.stages[index], run)
    table.insert(out.lines, stage_line(stage, digits, opts))
    out.stages[#out.lines] = stage.position
    if stage.position == unfolds then
      for _, line in ipairs(live) do
        table.insert(out.lines, line)
        out.stages[#out.lines] = stage.position
      end
    end
  end
  if last < #run.stages then
    table.insert(out.lines, folded(run.stages, last + 1, #run.stages))
  end
  vim.list_extend(out.lines, footer)
  return out
end

return M
