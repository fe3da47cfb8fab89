--- The dashboard: superpowers of the project with their health, their newest run, and what waits.
local text = require("superpower.ui.text")

local M = {}

---@param entry table
---@param run table?
---@param now integer
---@param icons string
---@param width integer
---@return superpower.Line
function M.line(entry, run, now, icons, width)
  local marks = require("superpower.ui.marks")
  local mark, group = " ", "SuperpowerDim"
  local words, colour ---@type string, string?
  local age = ""
  local unfinished = run and (run.state == "paused" or run.state == "running")
  if run and unfinished then
    local gate = run.gate
    if run.state == "running" then
      mark, group = marks.mark(icons, "running", now)
      words = ("runs: stage %d/%d"):format(run.current_stage, run.total)
    elseif run.reason == "gate" then
      mark, group = marks.mark(icons, "gate", now)
      words = ("waits at gate %d/%d%s"):format(run.current_stage, run.total, gate and ": " .. gate.label or "")
      colour = "SuperpowerGate"
    else
      mark, group = marks.mark(icons, run.reason == "failed" and "failed" or "held", now)
      words = ("paused at %d/%d: %s"):format(run.current_stage, run.total, run.reason or "")
      colour = run.reason == "failed" and "SuperpowerFailed" or "SuperpowerGate"
    end
    age = run.updated_at and text.age(now - run.updated_at) or ""
  elseif (entry.errors or 0) > 0 then
    words = ("%d error%s   %s"):format(entry.errors, entry.errors == 1 and "" or "s", entry.first_error or "")
    colour = "SuperpowerFailed"
  else
    words = ("%d stage%s"):format(entry.stages or 0, entry.stages == 1 and "" or "s")
    if #(entry.tags or {}) > 0 then
      words = words .. "   " .. table.concat(entry.tags, ", ")
    end
    if run then
      words = ("%s   last: %s, %s ago"):format(words, run.state, text.age(now - run.updated_at))
    elseif entry.description and entry.description ~= "" then
      words = words .. "   " .. entry.description
    end
  end
  local room = width - 28 - 6
  return {
    { " " .. mark .. " ", group },
    { text.fit(text.line(entry.name), 22) .. " ", "SuperpowerLabel" },
    { text.fit(text.line(words), room), colour or "SuperpowerNote" },
    { text.right(age, 6), "SuperpowerTime" },
  }
end

---@param root string
function M.open(root)
  local session, notify = require("superpower.session"), require("superpower.notify")
  local list, err = session.call("list", { root = root })
  local runs = {}
  if not err then
    runs, err = session.call("runs", { root = root })
  end
  if err then
    return notify.fault(err)
  end
  local newest = {} ---@type table<string, table>
  for _, run in ipairs(runs or {}) do
    local seen = newest[run.superpower]
    local open = run.state == "paused" or run.state == "running"
    if not seen or (open and not (seen.state == "paused" or seen.state == "running")) then
      newest[run.superpower] = run
    end
  end
  local current = session.status(root)
  for _, run in ipairs(runs or {}) do
    if current and run.run_id == current.run_id then
      run.gate = current.gate
    end
  end
  local config = require("superpower.config").get()
  local health = config.harness == "auto" and session.call("health", {}) or {}
  local now, icons = os.time() * 1000, config.icons
  local width = math.min(94, vim.o.columns - 6)
  local lines = {}
  local waiting ---@type integer?
  for row, entry in ipairs(list) do
    local run = newest[entry.name]
    table.insert(lines, M.line(entry, run, now, icons, width))
    waiting = waiting or (run and run.state == "paused" and row or nil)
  end
  if #lines == 0 then
    lines = {
      { { " No superpowers in " .. text.line(root), "SuperpowerDim" } },
      { { " :Superpower new NAME makes one", "SuperpowerDim" } },
    }
  end
  ---@param act fun(entry: table, run: table?)
  local function with(act)
    return function()
      local entry = list[vim.api.nvim_win_get_cursor(0)[1]]
      if entry then
        vim.cmd.close()
        act(entry, newest[entry.name])
      end
    end
  end
  local asks = require("superpower.permission").waiting()
  local verbs = require("superpower.verbs")
  local function start(entry)
    verbs.run(entry.name, { root = root })
  end
  require("superpower.ui.page").open({
    title = "Superpowers · " .. vim.fs.basename(root),
    right = asks > 0 and ("%d permission%s asked: g"):format(asks, asks == 1 and " is" or "s are")
      or "harness: " .. (health.auto or config.harness),
    filetype = "superpower-dashboard",
    lines = lines,
    row = waiting,
    keys = {
      { lhs = "r", label = "run", desc = "start it", fn = with(start) },
      {
        lhs = "<CR>",
        label = "resume or open",
        desc = "resume its unfinished run, else open the declaration",
        fn = with(function(entry, run)
          if run and (run.state == "paused" or run.state == "running") then
            verbs.resume(run.run_id, { root = root })
          else
            vim.cmd.edit(vim.fn.fnameescape(entry.path))
          end
        end),
      },
      {
        lhs = "e",
        label = "edit",
        desc = "open the declaration",
        fn = with(function(entry)
          vim.cmd.edit(vim.fn.fnameescape(entry.path))
        end),
      },
      {
        lhs = "p",
        label = "plan",
        desc = "what would run, skip and ask",
        fn = with(function(entry)
          require("superpower.subcommands").plan.impl(entry.name, false)
        end),
      },
      {
        lhs = "g",
        label = "gate",
        desc = "open the waiting gate",
        fn = function()
          vim.cmd.close()
          require("superpower.command").verb("gate")
        end,
      },
      {
        lhs = "c",
        label = "check",
        desc = "check it, into the quickfix list",
        fn = with(function(entry)
          require("superpower.subcommands").check.impl(entry.name, false)
        end),
      },
      {
        lhs = "x",
        label = "cancel",
        desc = "cancel its run (asks)",
        fn = with(function(entry, run)
          if not run or not (run.state == "paused" or run.state == "running") then
            return notify.info(("%s has no run to cancel"):format(entry.name))
          elseif not current or current.run_id ~= run.run_id then
            -- A cancel is for the current run; another one is made that by resuming it.
            return notify.info(("resume %s first; the current run is another one"):format(entry.name))
          end
          vim.ui.select({ "Cancel the run", "Keep it" }, {
            prompt = ("%s, stage %d/%d"):format(entry.name, run.current_stage, run.total),
            kind = "superpower",
          }, function(_, index)
            if index == 1 then
              verbs.cancel()
            end
          end)
        end),
      },
    },
  })
end

return M
