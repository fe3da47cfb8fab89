--- Shows a run of the history: its stages as they ended, with the output, the prompt and the reason of each.
local errors = require("superpower.base.errors")
local config = require("superpower.config")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local session = require("superpower.session")
local Page = require("superpower.ui.page")
local render = require("superpower.ui.render")
local run_text = require("superpower.ui.run_text")
local output = require("superpower.views.output")
local why = require("superpower.views.why")

local M = {}

---@param root string
---@param run superpower.Snapshot
---@param row? integer where the cursor starts
local function show(root, run, row)
  local run_id = run.run_id
  local now = runs.now()
  local stages ---@type table<integer, integer>
  local page ---@type superpower.Page
  ---@param act fun(stage: integer)
  local function with(act)
    return function()
      local stage = stages[page:row()]
      if stage then
        act(stage)
      end
    end
  end
  ---@param what "output"|"prompt"
  local function shows(what)
    return with(function(stage)
      local at = page:row()
      page:close()
      output.open(root, stage, what, run_id, function()
        M.open(root, run_id, at)
      end)
    end)
  end
  local usage = run_text.usage(run)
  page = Page.open({
    title = ("%s · %s"):format(run.superpower, os.date("%Y-%m-%d %H:%M", math.floor(run.started_at / 1000))),
    right = run_text.state(run) .. (usage ~= "" and " · " .. usage or ""),
    filetype = "superpower-run",
    row = row,
    width = 76,
    lines = function(width)
      local rendered = render.progress(run, {
        width = math.min(width, 84),
        height = math.huge,
        now = now,
        icons = config.get().icons,
      })
      stages = rendered.stages
      return rendered.lines
    end,
    keys = {
      {
        lhs = "<CR>",
        label = "output",
        desc = "output of the stage",
        fn = shows("output"),
      },
      {
        lhs = "p",
        label = "prompt",
        desc = "prompt of the stage",
        fn = shows("prompt"),
      },
      {
        lhs = "w",
        label = "why",
        desc = "why the stage is what it is",
        fn = with(function(stage)
          why.open(root, stage, run_id, page)
        end),
      },
    },
  })
end

---@param root string
---@param run_id string
---@param row? integer where the cursor starts
function M.open(root, run_id, row)
  session.ask("status", { root = root, run_id = run_id }, function(run, err)
    if err or type(run) ~= "table" then
      return notify.engine_error(err or errors.new("no-run", "this run no longer exists"))
    end
    show(root, run, row)
  end)
end

return M
