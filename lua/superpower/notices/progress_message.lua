--- Shows runs as progress messages of Neovim 0.12: one id per driven run, updated at each stage, always ended. The
--- editor shows them in the message line, in `vim.ui.progress_status()` and to its terminal; plugins receive them as
--- `Progress` events.
local text = require("superpower.base.text")
local config = require("superpower.config")
local notify = require("superpower.notify")
local run_text = require("superpower.ui.run_text")

local M = {}

local sent = {} ---@type table<string, { key: string, id?: integer|string }> by run: the last message
local waiting = {} ---@type table<string, superpower.Snapshot> by run: messages that wait until the command line is left

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
    -- If the gate's window opens by itself, the command that opens it is left out.
    local said = run_text.gate(run):sub(#run.superpower + 2)
    local opens = config.get().gate.open
    return "success", opens and (said:gsub("[.]? ?:Superpower gate opens it$", "")) or said
  end
  local bad = run.state == "paused" and run.reason ~= "user" and run.reason ~= "interrupted"
  return bad and "failed" or "success", text.line(run.summary or run.state)
end

---@param run superpower.Snapshot
local function send(run)
  local status, words = of(run)
  local done = run.state == "complete" and run.total or run.current_stage - 1
  local this = sent[run.run_id]
  local head = #run.superpower + 10 -- Neovim puts the title and the percentage before it
  local ok, id = pcall(vim.api.nvim_echo, { { text.cut(words, math.max(10, vim.v.echospace - head)) } }, false, {
    id = this and this.id or nil,
    kind = "progress",
    source = "superpower",
    title = run.superpower,
    status = status,
    percent = math.floor(100 * done / math.max(1, run.total)),
  })
  if status ~= "running" or not ok then
    sent[run.run_id] = nil
  elseif this then
    this.id = id
  end
end

--- Whether a command line is being typed, which must not be overwritten.
---@return boolean
local function typing()
  return vim.api.nvim_get_mode().mode:find("^[cr]") ~= nil
end

--- Sends the progress of a run that this editor drives.
---@param run superpower.Snapshot
function M.follow(run)
  local this = sent[run.run_id]
  if not this and (run.state ~= "running" or not run.ours) or not possible() then
    return
  end
  local is_manual = run_text.is_manual(run)
  local key = ("%s %d %s"):format(run.state, run.current_stage, tostring(is_manual))
  if this and this.key == key then
    return
  end
  sent[run.run_id] = { key = key, id = this and this.id or nil }
  if not typing() then
    return send(run)
  end
  if not next(waiting) then
    vim.api.nvim_create_autocmd("CmdlineLeave", {
      once = true,
      callback = vim.schedule_wrap(function()
        local newest = waiting
        waiting = {}
        for _, other in pairs(newest) do
          if sent[other.run_id] and vim.v.exiting == vim.NIL then
            send(other)
          end
        end
      end),
    })
  end
  waiting[run.run_id] = run
end

return M
