--- Runs as progress messages of Neovim 0.12: one id while a run is driven, told at each stage, always ended. The editor
--- shows them in the message line, in `vim.ui.progress_status()` and to its terminal; plugins hear them as `Progress`.
local text = require("superpower.base.text")
local config = require("superpower.config")
local notify = require("superpower.notify")
local run_text = require("superpower.ui.run_text")

local M = {}

local told = {} ---@type table<string, { key: string, id?: integer|string }> what was told last, by run
local waiting = {} ---@type table<string, superpower.Snapshot> by run; told as soon as nobody is in the command line

---@return boolean
local function possible()
  return vim.fn.has("nvim-0.12") == 1 and not notify.headless() and config.get().progress.messages
end

---@param run superpower.Snapshot
---@return "running"|"success"|"failed" status, string words
local function of(run)
  local stage = run.stages[run.current_stage]
  if run_text.is_manual(run) then
    return "running", ("%d/%d waits for your result: :Superpower gate"):format(run.current_stage, run.total)
  elseif run.state == "running" then
    return "running", ("%d/%d %s"):format(run.current_stage, run.total, stage and text.line(stage.label) or "")
  elseif run.state == "paused" and run.gate then
    -- Where its window opens by itself, this stands beside it: what opens it is said where it does not.
    local said = run_text.gate(run):sub(#run.superpower + 2)
    local opens = config.get().gate.open
    return "success", opens and (said:gsub("[.]? ?:Superpower gate opens it$", "")) or said
  end
  local bad = run.state == "paused" and run.reason ~= "user" and run.reason ~= "interrupted"
  return bad and "failed" or "success", text.line(run.summary or run.state)
end

---@param run superpower.Snapshot
local function tell(run)
  local status, words = of(run)
  local done = run.state == "complete" and run.total or run.current_stage - 1
  local this = told[run.run_id]
  local head = #run.superpower + 10 -- what Neovim puts before it: the title and the share
  local ok, id = pcall(vim.api.nvim_echo, { { text.cut(words, math.max(10, vim.v.echospace - head)) } }, false, {
    id = this and this.id or nil,
    kind = "progress",
    source = "superpower",
    title = run.superpower,
    status = status,
    percent = math.floor(100 * done / math.max(1, run.total)),
  })
  if status ~= "running" or not ok then
    told[run.run_id] = nil
  elseif this then
    this.id = id
  end
end

--- A line that is being typed must not be written over.
---@return boolean
local function typing()
  return vim.api.nvim_get_mode().mode:find("^[cr]") ~= nil
end

--- Tells what is new of a run that this editor drives.
---@param run superpower.Snapshot
function M.follow(run)
  local this = told[run.run_id]
  if not this and (run.state ~= "running" or not run.ours) or not possible() then
    return
  end
  local in_hand = run_text.is_manual(run)
  local key = ("%s %d %s"):format(run.state, run.current_stage, tostring(in_hand))
  if this and this.key == key then
    return
  end
  told[run.run_id] = { key = key, id = this and this.id or nil }
  if not typing() then
    return tell(run)
  end
  if not next(waiting) then
    vim.api.nvim_create_autocmd("CmdlineLeave", {
      once = true,
      callback = vim.schedule_wrap(function()
        local newest = waiting
        waiting = {}
        for _, other in pairs(newest) do
          if told[other.run_id] and vim.v.exiting == vim.NIL then
            tell(other)
          end
        end
      end),
    })
  end
  waiting[run.run_id] = run
end

return M
