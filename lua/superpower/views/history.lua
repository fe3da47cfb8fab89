--- The runs of a project, newest first.
local question = require("superpower.ask.question")
local text = require("superpower.base.text")
local notify = require("superpower.notify")
local session = require("superpower.session")
local Page = require("superpower.ui.page")
local run_text = require("superpower.ui.run_text")
local run_details = require("superpower.views.run_details")

local M = {}

local groups = {
  complete = "SuperpowerPassed",
  rejected = "SuperpowerFailed",
  cancelled = "SuperpowerDim",
  paused = "SuperpowerGate",
  running = "SuperpowerRunning",
}

---@param run table
---@param now integer
---@param names integer
---@param width integer
---@return superpower.Line
local function line_of(run, now, names, width)
  local state = run.state == "paused" and run_text.paused(run.reason) or run.state
  local age = run.updated_at and text.age(now - run.updated_at) or ""
  local about = text.line(run.about or "")
  local id = run.run_id:sub(1, 13) .. "  "
  if width < 90 and about ~= "" then
    id = "" -- without room for both, the subject is more useful; the id completes
  end
  return {
    { " " .. text.fit(text.line(run.superpower), names) .. " ", "SuperpowerLabel" },
    { text.right(("%d/%d"):format(run.current_stage or 0, run.total or 0), 7) .. "  ", "SuperpowerNumber" },
    { text.fit(state, 19) .. " ", groups[run.state] or "SuperpowerNote" },
    { text.right(age, 8) .. "  ", "SuperpowerTime" },
    { id, "SuperpowerDim" },
    { text.cut(about, math.max(0, width - names - 42 - #id)), "SuperpowerNote" },
  }
end

--- Fetches the runs of a project, and shows them.
---@param root string
function M.show(root)
  session.ask("runs", { root = root }, function(list, err)
    if err then
      notify.engine_error(err)
    elseif #list == 0 then
      notify.info("no runs here yet")
    else
      M.open(root, list)
    end
  end)
end

---@param root string
---@param list table[]
function M.open(root, list)
  local now = os.time() * 1000
  local names = 12
  for _, run in ipairs(list) do
    names = math.max(names, math.min(24, text.width(text.line(run.superpower))))
  end
  local function lines(width)
    return vim.tbl_map(function(run)
      return line_of(run, now, names, width)
    end, list)
  end
  local page ---@type superpower.Page
  local function chosen()
    local run = list[page:row()]
    page:close()
    return run
  end
  page = Page.open({
    title = "Runs · " .. vim.fs.basename(root),
    filetype = "superpower-runs",
    lines = lines,
    keys = {
      {
        lhs = "<CR>",
        label = "resume or show",
        desc = "resume an unfinished run, show one that has ended",
        fn = function()
          local run = chosen()
          if run and (run.state == "paused" or run.state == "running") then
            question.continue(root, run)
          elseif run then
            run_details.open(root, run.run_id)
          end
        end,
      },
      {
        lhs = "s",
        label = "show",
        desc = "show its stages, without resuming",
        fn = function()
          local run = chosen()
          if run then
            run_details.open(root, run.run_id)
          end
        end,
      },
    },
  })
end

return M
