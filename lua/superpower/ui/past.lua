--- A run of the history: its stages as they ended, with what each printed, was told, and why.
local render = require("superpower.ui.render")
local words = require("superpower.ui.words")

local M = {}

---@param root string
---@param run_id string
---@param row? integer where the cursor starts
function M.open(root, run_id, row)
  local run, err = require("superpower.session").call("status", { root = root, run_id = run_id })
  if err or type(run) ~= "table" then
    return require("superpower.notify").fault(err or require("superpower.faults").new("no-run", "that run is gone"))
  end
  local now = require("superpower.runs").now()
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
      require("superpower.ui.output").open(root, stage, what, run_id, function()
        M.open(root, run_id, at)
      end)
    end)
  end
  local usage = words.usage(run)
  page = require("superpower.ui.page").open({
    title = ("%s · %s"):format(run.superpower, os.date("%Y-%m-%d %H:%M", math.floor(run.started_at / 1000))),
    right = words.state(run) .. (usage ~= "" and " · " .. usage or ""),
    filetype = "superpower-run",
    row = row,
    width = 76,
    lines = function(width)
      local rendered = render.progress(run, {
        width = math.min(width, 84),
        height = math.huge,
        now = now,
        icons = require("superpower.config").get().icons,
      })
      stages = rendered.stages
      return rendered.lines
    end,
    keys = {
      {
        lhs = "<CR>",
        label = "output",
        desc = "what the stage printed",
        fn = shows("output"),
      },
      {
        lhs = "p",
        label = "prompt",
        desc = "what the stage was told",
        fn = shows("prompt"),
      },
      {
        lhs = "w",
        label = "why",
        desc = "why the stage is what it is",
        fn = with(function(stage)
          require("superpower.ui.why").open(root, stage, run_id, page)
        end),
      },
    },
  })
end

return M
