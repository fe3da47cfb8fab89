--- The `manual` harness: a stage that the user carries out. Its prompt opens in a buffer with room for the result
--- below; `:w` submits the result. Closing the buffer decides nothing; `:Superpower gate` opens it again.
local text = require("superpower.base.text")
local attention = require("superpower.editor.attention")
local actions = require("superpower.editor.actions")
local notify = require("superpower.notify")
local file_tail = require("superpower.runs.file_tail")
local session = require("superpower.session")
local acwrite = require("superpower.ui.acwrite")

local M = {}

local rule = "--- write the result below this line; :w submits it ---"

---@class superpower.ManualStage a manual stage that waits for its result
---@field launch any
---@field root string
---@field run_id string
---@field stage integer
---@field label string
---@field prompt_path string
---@field buf? integer

---@type table<string, { run_id: string, stage: integer, message: string }> by root: the result that was submitted last
local submitted = {}
local leaving = false
local waiting = {} ---@type table<string, superpower.ManualStage> by root, since each project may drive a run

---@param lines string[]
---@return string
local function result_of(lines)
  for row, line in ipairs(lines) do
    if line == rule then
      return vim.trim(table.concat(vim.list_slice(lines, row + 1), "\n"))
    end
  end
  return vim.trim(table.concat(lines, "\n"))
end

---@param buf integer
local function submit(buf)
  local this = vim.iter(vim.tbl_values(waiting)):find(function(other)
    return other.buf == buf
  end)
  if not this then
    notify.warn("this stage no longer waits for a result; your text stays in the buffer")
    return
  end
  local message = result_of(vim.api.nvim_buf_get_lines(buf, 0, -1, false))
  if message == "" then
    notify.warn("write the result below the line, then :w")
    return
  end
  local request = { root = this.root, launch = this.launch, message = message, leaving = leaving }
  local _, err = session.call("submit", request)
  if err then
    notify.engine_error(err)
    return
  end
  waiting[this.root] = nil
  submitted[this.root] = { run_id = this.run_id, stage = this.stage, message = message }
  vim.bo[buf].modified = false
  vim.schedule(function()
    acwrite.wipe(buf)
  end)
end

---@param this superpower.ManualStage
local function show(this)
  if this.buf and vim.api.nvim_buf_is_loaded(this.buf) then
    local win = vim.fn.bufwinid(this.buf)
    if win ~= -1 then
      actions.enter(win)
      return
    end
  else
    local prompt, problem = file_tail.lines(this.root, this.prompt_path, 4 * 1024 * 1024)
    local lines = vim.tbl_map(text.visible, prompt or { ("(no prompt: %s)"):format(problem) })
    local before = submitted[this.root]
    before = before and before.run_id == this.run_id and before.stage == this.stage and before or nil
    vim.list_extend(lines, { "", rule, "" })
    vim.list_extend(lines, before and vim.split(before.message, "\n") or {}) -- it was not accepted, and can be corrected
    this.buf = acwrite.buffer({
      name = "manual/stage-" .. this.stage,
      lines = lines,
      listed = true,
      modified = false,
      write = submit,
    })
  end
  local buf = this.buf ---@cast buf integer
  -- `:wqa` submits and leaves: the engine must not start the next stage in between. If something keeps the editor
  -- open, the run continues.
  vim.api.nvim_create_autocmd("ExitPre", {
    group = vim.api.nvim_create_augroup("superpower_manual", {}),
    callback = function()
      leaving = true
      vim.schedule(function()
        leaving = false
      end)
    end,
  })
  local win = actions.open(buf, true, { split = "below", win = -1, height = math.floor(vim.o.lines / 2) })
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(win),
    once = true,
    callback = function()
      vim.schedule(function()
        if waiting[this.root] == this and vim.v.exiting == vim.NIL then
          notify.info(("stage %d still waits: :Superpower gate opens it, :Superpower skip skips it"):format(this.stage))
        end
      end)
    end,
  })
end

--- Opens the manual stage that waits in this project, or in one of its runs. Returns whether there is one.
---@param root string
---@param run_id? string
---@return boolean
function M.open(root, run_id)
  local this = waiting[root]
  if not this or (run_id and this.run_id ~= run_id) then
    return false
  end
  show(this)
  return true
end

--- Returns the manual stage that waits in this project.
---@param root string
---@return superpower.ManualStage?
function M.waiting(root)
  return waiting[root]
end

--- Opens the stage as soon as the user is not typing.
---@param this superpower.ManualStage
local function offer(this)
  if notify.headless() then
    return
  end
  attention.when_quiet(function()
    if waiting[this.root] == this then
      show(this)
    end
  end, function()
    notify.call(("stage %d is manual. :Superpower gate opens it"):format(this.stage), "info", true)
  end)
end

---@param event table
function M.asked(event)
  local this = {
    launch = event.launch,
    root = event.root,
    run_id = event.run_id,
    stage = event.stage,
    label = event.label or "",
    prompt_path = event.prompt_path,
  }
  waiting[event.root] = this
  offer(this)
end

--- Offers the waiting stages again, because a user interface was attached.
function M.offer_again()
  for _, this in pairs(waiting) do
    offer(this)
  end
end

--- Handles a stage that no longer waits. Its window closes, unless something was written there.
---@param this superpower.ManualStage
local function finish(this)
  waiting[this.root] = nil
  if this.buf and vim.api.nvim_buf_is_loaded(this.buf) and not vim.bo[this.buf].modified then
    acwrite.wipe(this.buf)
  end
end

--- Handles a run that has stopped: none of its stages waits for a result.
---@param event { root: string, run_id: string }
function M.stopped(event)
  local this = waiting[event.root]
  if this and this.run_id == event.run_id then
    finish(this)
  end
end

---@param event { root: string, run_id: string, launch: any }
function M.gone(event)
  local this = waiting[event.root]
  if this and this.run_id == event.run_id and this.launch == event.launch then
    finish(this)
  end
end

return M
