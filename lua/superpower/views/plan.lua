--- Shows what would run, be skipped and ask, stage by stage, with the reason and the prompt of each. Starts nothing.
local text = require("superpower.base.text")
local notify = require("superpower.notify")
local session = require("superpower.session")
local Page = require("superpower.ui.page")
local verbs = require("superpower.verbs")

local M = {}

---@class superpower.PlannedStage
---@field position integer
---@field label string
---@field what "run"|"skip"|"ask"|"?"
---@field kind string
---@field actor? string
---@field harness? string as configured; "auto" takes the first one found
---@field by? string the harness that would be used
---@field why? string
---@field prompt? string what its agent would be told

local groups =
  { run = "SuperpowerRunning", skip = "SuperpowerSkipped", ask = "SuperpowerGate", ["?"] = "SuperpowerDim" }

local words = {
  run = "would run",
  skip = "would be skipped",
  ask = "would ask you",
  ["?"] = "decided when reached",
}

--- Returns the reason of a stage, or "" for a trivial one such as `always`.
---@param stage superpower.PlannedStage
---@return string
local function reason(stage)
  local why = text.line(stage.why or "")
  return (why == "always" or why == "no condition") and "" or why
end

---@param stage superpower.PlannedStage
---@param actors integer
---@param width integer
---@return superpower.Line
local function line_of(stage, actors, width)
  local line = {
    { (" %3d  "):format(stage.position), "SuperpowerNumber" },
    { text.fit(stage.what, 5) .. " ", groups[stage.what] or "SuperpowerDim" },
  }
  local room = width - 12
  local acts = stage.actor and stage.actor ~= "" and stage.kind ~= "gate"
  local why = reason(stage)
  if not acts then
    table.insert(line, { text.cut(text.line(stage.label), room - 1), "SuperpowerLabel" })
    return line
  end
  table.insert(line, { text.fit(text.line(stage.actor), actors) .. "  ", "SuperpowerLabel" })
  table.insert(line, { text.cut(why ~= "" and why or text.line(stage.label), room - actors - 3), "SuperpowerNote" })
  return line
end

--- Returns who carries out a stage.
---@param stage superpower.PlannedStage
---@return string
local function by(stage)
  local harness = stage.by or stage.harness
  if harness == "manual" then
    return stage.harness == "auto" and "manually (no agent found)" or "manually"
  end
  return "by " .. (harness or "the harness of the run")
end

---@param stage superpower.PlannedStage
---@param width integer
---@return superpower.Line[]
local function unfolded(stage, width)
  local lines, indent = {}, (" "):rep(12)
  local function add(said, group)
    for _, line in ipairs(text.wrap(text.line(said), width - #indent - 1)) do
      table.insert(lines, { { indent .. line, group } })
    end
  end
  add(stage.label, "SuperpowerHeading")
  local how = words[stage.what] or stage.what
  if stage.actor and stage.actor ~= "" and stage.kind ~= "gate" then
    how = ("%s: %s %s, %s"):format(how, stage.kind, stage.actor, by(stage))
  end
  add(how)
  if stage.why and stage.why ~= "" then
    add(stage.why, "SuperpowerNote")
  end
  table.insert(lines, { { "" } })
  return lines
end

--- Builds the lines of the plan, and maps rows to stages. `open` holds the positions of unfolded stages.
---@param plan { stages: superpower.PlannedStage[] }
---@param width integer
---@param open? table<integer, boolean>
---@return superpower.Line[] lines, table<integer, superpower.PlannedStage> rows
function M.lines(plan, width, open)
  local actors = 10
  for _, stage in ipairs(plan.stages or {}) do
    actors = math.max(actors, math.min(28, math.floor(width / 3), text.width(stage.actor or "")))
  end
  local lines, rows = {}, {}
  for _, stage in ipairs(plan.stages or {}) do
    table.insert(lines, line_of(stage, actors, width))
    rows[#lines] = stage
    for _, line in ipairs(open and open[stage.position] and unfolded(stage, width) or {}) do
      table.insert(lines, line)
      rows[#lines] = stage
    end
  end
  return lines, rows
end

--- Shows the exact prompt of a stage.
---@param stage superpower.PlannedStage
---@param plan? superpower.Page
function M.prompt(stage, plan)
  if not stage.prompt then
    return notify.info(("stage %d is a gate: it has no prompt"):format(stage.position))
  end
  local page = Page.open({
    title = ("Stage %d: what %s would be told"):format(stage.position, stage.actor or "its agent"),
    filetype = "markdown",
    lines = vim.tbl_map(function(line)
      return { { line } }
    end, text.lines(stage.prompt)),
    wrap = true,
    width = 84,
    over = plan,
  })
  vim.api.nvim_set_option_value("conceallevel", 0, { win = page.float.win, scope = "local" })
end

---@param plan { stages: superpower.PlannedStage[] }
---@return string
local function sum(plan)
  local counts = { run = 0, skip = 0, ask = 0, ["?"] = 0 }
  for _, stage in ipairs(plan.stages or {}) do
    counts[stage.what] = (counts[stage.what] or 0) + 1
  end
  local said = {}
  for _, pair in ipairs({ { "run", "run" }, { "ask", "ask" }, { "skip", "skip" }, { "?", "undecided" } }) do
    if counts[pair[1]] > 0 then
      table.insert(said, ("%d %s"):format(counts[pair[1]], pair[2]))
    end
  end
  return table.concat(said, ", ")
end

--- Fetches the plan of a superpower, and shows it.
---@param root string
---@param name string
---@param inputs table<string, string>
function M.show(root, name, inputs)
  session.ask("plan", { root = root, name = name, inputs = inputs }, function(plan, err)
    if err then
      return notify.engine_error(err)
    end
    M.open(name, inputs, plan)
  end)
end

---@param name string
---@param inputs table<string, string>
---@param plan { stages: superpower.PlannedStage[] }
function M.open(name, inputs, plan)
  local keys = vim.tbl_keys(inputs)
  table.sort(keys)
  local given = name
  for _, key in ipairs(keys) do
    given = ("%s, %s=%s"):format(given, key, text.line(tostring(inputs[key])))
  end
  local open, rows = {}, {} ---@type table<integer, boolean>, table<integer, superpower.PlannedStage>
  local page ---@type superpower.Page
  local function toggle()
    local stage = rows[page:row()]
    if stage then
      open[stage.position] = not open[stage.position] or nil
      page:refresh()
      for row, of in pairs(rows) do
        if of == stage and rows[row - 1] ~= stage then
          vim.api.nvim_win_set_cursor(page.float.win, { row, 0 })
        end
      end
    end
  end
  page = Page.open({
    title = text.cut(given, 60) .. ": what would happen now",
    right = sum(plan),
    filetype = "superpower-plan",
    lines = function(width)
      local lines
      lines, rows = M.lines(plan, width, open)
      return lines
    end,
    keys = {
      { lhs = "<CR>", label = "why", desc = "show the stage's whole label and reason", fn = toggle },
      {
        lhs = "p",
        label = "prompt",
        desc = "what the stage's agent would be told",
        fn = function()
          local stage = rows[page:row()]
          if stage then
            M.prompt(stage, page)
          end
        end,
      },
      {
        lhs = "r",
        label = "run",
        desc = "run it",
        fn = function()
          page:close()
          verbs.run(name, { inputs = inputs })
        end,
      },
    },
  })
end

return M
