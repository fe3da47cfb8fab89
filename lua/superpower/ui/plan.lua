--- What would run, be skipped and ask, stage by stage. Starts nothing.
local text = require("superpower.ui.text")

local M = {}

local groups =
  { run = "SuperpowerRunning", skip = "SuperpowerSkipped", ask = "SuperpowerGate", ["?"] = "SuperpowerDim" }

---@param plan { stages: { position: integer, label: string, what: string, actor?: string, kind: string, harness?: string, why?: string }[] }
---@param width integer
---@return superpower.Line[]
function M.lines(plan, width)
  local actors = 10
  for _, stage in ipairs(plan.stages or {}) do
    actors = math.max(actors, math.min(28, text.width(stage.actor or "")))
  end
  local out = {}
  for _, stage in ipairs(plan.stages or {}) do
    local why = text.line(stage.why or "")
    local what = stage.actor and stage.kind ~= "gate" and text.line(stage.actor) or nil
    local line = {
      { (" %3d "):format(stage.position), "SuperpowerNumber" },
      { text.fit(stage.what, 5), groups[stage.what] or "SuperpowerDim" },
    }
    local head = 10
    if what then
      local tail = why ~= "" and why or (stage.harness or "")
      table.insert(line, { text.fit(what, actors) .. " ", "SuperpowerLabel" })
      table.insert(line, { text.cut(tail, width - head - actors - 2), "SuperpowerNote" })
    else
      table.insert(line, { text.cut(text.line(stage.label), width - head - 1), "SuperpowerLabel" })
    end
    table.insert(out, line)
  end
  return out
end

local words = {
  run = "would run",
  skip = "would be skipped",
  ask = "would ask you",
  ["?"] = "is decided when the run gets there",
}

--- One stage of the plan, with its whole label and reason.
---@param stage table
function M.stage(stage)
  local lines = {}
  local function add(said, group)
    for _, line in ipairs(text.wrap(text.line(said), 76)) do
      table.insert(lines, { { " " .. line, group } })
    end
  end
  add(stage.label, "SuperpowerHeading")
  if stage.actor and stage.kind ~= "gate" then
    add(("%s %s, by %s"):format(stage.kind, stage.actor, stage.harness or "the harness of the run"))
  end
  add(words[stage.what] or stage.what, groups[stage.what])
  if stage.why and stage.why ~= "" then
    add(stage.why, "SuperpowerNote")
  end
  require("superpower.ui.page").open({
    title = ("Stage %d"):format(stage.position),
    filetype = "superpower-why",
    lines = lines,
  })
end

---@param name string
---@param inputs table<string, string>
---@param plan table
function M.open(name, inputs, plan)
  local keys = vim.tbl_keys(inputs)
  table.sort(keys)
  local given = name
  for _, key in ipairs(keys) do
    given = ("%s, %s=%s"):format(given, key, text.line(inputs[key]))
  end
  require("superpower.ui.page").open({
    title = text.cut(given, 60) .. ": what would happen now",
    filetype = "superpower-plan",
    lines = M.lines(plan, math.min(96, vim.o.columns - 6)),
    keys = {
      {
        lhs = "<CR>",
        label = "why",
        desc = "the whole reason of the stage under the cursor",
        fn = function()
          local stage = plan.stages[vim.api.nvim_win_get_cursor(0)[1]]
          if stage then
            M.stage(stage)
          end
        end,
      },
      {
        lhs = "r",
        label = "run",
        desc = "run it",
        fn = function()
          vim.cmd.close()
          require("superpower.verbs").run(name, { inputs = inputs })
        end,
      },
    },
  })
end

return M
