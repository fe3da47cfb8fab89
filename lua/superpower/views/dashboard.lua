--- The dashboard: active and waiting runs, the superpowers with their problems, and a key for each next step. It
--- follows the run while it is open (`dashboard_state.lua`).
local manual = require("superpower.ask.manual")
local permission = require("superpower.ask.permission")
local question = require("superpower.ask.question")
local inbox = require("superpower.ask.inbox")
local text = require("superpower.base.text")
local config = require("superpower.config")
local check = require("superpower.declaration.check")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local session = require("superpower.session")
local open_file = require("superpower.ui.open_file")
local Page = require("superpower.ui.page")
local verbs = require("superpower.verbs")
local dashboard_state = require("superpower.views.dashboard_state")
local history = require("superpower.views.history")
local overview = require("superpower.views.overview")
local plan = require("superpower.views.plan")
local progress = require("superpower.views.progress")

local M = {}

--- Finds the harness that carries out stages.
---@param found fun(words: string)
local function find_harness(found)
  local wanted = config.get().harness
  if wanted ~= "auto" then
    return found(wanted)
  end
  session.ask("health", {}, function(health)
    local auto = health and health.auto
    found((auto == nil or auto == "manual") and "no agent found: manual" or auto .. " ✓")
  end)
end

---@param root string
---@param run table
local function cancel(root, run)
  vim.ui.select({ "Cancel the run", "Keep it" }, {
    prompt = ("%s, stage %d/%d"):format(text.line(run.superpower), run.current_stage, run.total),
    kind = "superpower",
  }, function(_, index)
    if index == 1 then
      verbs.cancel({ root = root, run_id = run.run_id, how = "key" })
    end
  end)
end

--- Returns the unfinished run of a row: its own, the one that asks there, or the newest one of its superpower.
---@param state superpower.OverviewState
---@param row superpower.OverviewRow
---@return table?
local function run_of(state, row)
  local asking = row.ask or row.manual
  return row.run
    or vim.iter(state.runs):find(function(run)
      if asking then
        return run.run_id == asking.run_id
      end
      return run.superpower == row.entry.name and overview.unfinished(run)
    end)
end

--- Returns an identity of a row that does not depend on its position.
---@param row superpower.OverviewRow?
---@return string?
local function subject(row)
  if not row then
    return nil
  elseif row.ask or row.manual then
    return ("stage %s of %s"):format((row.ask or row.manual).stage, (row.ask or row.manual).run_id)
  end
  return row.run and row.run.run_id or row.entry.name
end

---@param root string
---@param state superpower.OverviewState
---@param by string the harness
local function show(root, state, by)
  local rows ---@type table<integer, superpower.OverviewRow>
  local page ---@type superpower.Page
  ---@param act fun(row: superpower.OverviewRow)
  local function with(act)
    return function()
      local row = rows[page:row()]
      if row then
        page:close()
        act(row)
      end
    end
  end
  --- Wraps an action on the superpower of the row.
  ---@param act fun(name: string, path: string?)
  local function named(act)
    return with(function(row)
      local name = row.entry and row.entry.name or (row.run and row.run.superpower)
      for _, entry in ipairs(state.list) do
        if entry.name == name then
          return act(name, entry.path)
        end
      end
      notify.info("no superpower here: move the cursor to one")
    end)
  end
  local function edit(_, path)
    open_file.file(path)
  end
  local function open(row)
    if row.ask then
      permission.open({ id = row.ask.id })
    elseif row.manual then
      manual.open(root, row.manual.run_id)
    elseif row.run and row.run.state == "running" then
      progress.open(root)
    elseif row.run then
      question.continue(root, row.run)
    else
      edit(nil, row.entry.path)
    end
  end
  local function start(name)
    verbs.run(name, { root = root })
  end
  page = Page.open({
    title = "Superpowers · " .. vim.fs.basename(root),
    right = by,
    filetype = "superpower-dashboard",
    width = 94,
    lines = function(width)
      local lines
      lines, rows = overview.lines(state, math.min(width, 94))
      return lines
    end,
    keys = {
      {
        lhs = "<CR>",
        label = "resume or open",
        desc = "resume, answer, or open the file",
        fn = with(open),
      },
      { lhs = "r", label = "run", desc = "start it", fn = named(start) },
      {
        lhs = "p",
        label = "plan",
        desc = "what would run, skip and ask",
        fn = named(function(name)
          plan.show(root, name, {})
        end),
      },
      { lhs = "e", label = "edit", desc = "open the declaration", fn = named(edit) },
      {
        lhs = "g",
        label = "gate",
        desc = "open what waits",
        fn = function()
          page:close()
          runs.show(root)
          inbox.open()
        end,
      },
      {
        lhs = "c",
        label = "check",
        desc = "check it and fill the quickfix list",
        fn = named(function(name)
          check.run(root, name)
        end),
      },
      {
        lhs = "x",
        label = "cancel",
        desc = "cancel its run (asks)",
        fn = function()
          local row = rows[page:row()]
          local run = row and run_of(state, row)
          if run then
            page:close()
            cancel(root, run)
          else
            notify.info("no run to cancel")
          end
        end,
      },
      {
        lhs = "R",
        desc = "every run, newest first",
        fn = function()
          page:close()
          runs.show(root)
          history.show(root)
        end,
      },
    },
  })
  for row = 1, vim.api.nvim_buf_line_count(page.float.buf) do
    if rows[row] then
      vim.api.nvim_win_set_cursor(page.float.win, { row, 0 })
      break
    end
  end
  dashboard_state.follow(root, page, function(now)
    local about = subject(rows[page:row()])
    state = now
    page:refresh()
    -- The next key is meant for what the cursor was on. If that row is gone, the cursor goes to an empty row.
    local same, free ---@type integer?, integer?
    for line = 1, vim.api.nvim_buf_line_count(page.float.buf) do
      if not rows[line] then
        free = free or line
      elseif subject(rows[line]) == about then
        same = same or line
      end
    end
    vim.api.nvim_win_set_cursor(page.float.win, { same or free or 1, 0 })
  end)
end

---@param root string
function M.open(root)
  dashboard_state.collect(root, function(state, err)
    if not state then
      return notify.engine_error(assert(err))
    end
    find_harness(function(by)
      show(root, state, by)
    end)
  end)
end

return M
