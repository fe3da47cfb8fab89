--- The `manual` harness: a stage carried out by hand. Its prompt opens in a buffer with room for the result below; `:w`
--- hands the result in. Closing the buffer decides nothing; `:Superpower gate` opens it again.
local M = {}

local rule = "--- write the result below this line; :w hands it in ---"

---@type { launch: any, root: string, run_id: string, stage: integer, label: string, prompt_path: string, buf?: integer }?
local waiting

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
local function hand_in(buf)
  if not waiting or waiting.buf ~= buf then
    require("superpower.notify").warn("this stage no longer waits for a result; the text stays in its buffer")
    return
  end
  local message = result_of(vim.api.nvim_buf_get_lines(buf, 0, -1, false))
  if message == "" then
    require("superpower.notify").warn("write the result below the line, then :w")
    return
  end
  local _, err =
    require("superpower.session").call("submit", { root = waiting.root, launch = waiting.launch, message = message })
  if err then
    require("superpower.notify").fault(err)
    return
  end
  waiting = nil
  vim.bo[buf].modified = false
  vim.schedule(function()
    require("superpower.written").wipe(buf)
  end)
end

---@param enter boolean
local function show(enter)
  local this = assert(waiting)
  if this.buf and vim.api.nvim_buf_is_loaded(this.buf) then
    local win = vim.fn.bufwinid(this.buf)
    if win ~= -1 then
      if enter then
        vim.api.nvim_set_current_win(win)
      end
      return
    end
  else
    local ok, prompt = pcall(vim.fn.readfile, this.prompt_path)
    local lines = vim.tbl_map(require("superpower.ui.text").visible, ok and prompt or { "(no prompt)" })
    this.buf = require("superpower.written").buffer({
      name = "manual/stage-" .. this.stage,
      lines = vim.list_extend(lines, { "", rule, "" }),
      listed = true,
      modified = false,
      write = hand_in,
    })
  end
  local buf = this.buf ---@cast buf integer
  local win = vim.api.nvim_open_win(buf, enter, { split = "below", win = -1, height = math.floor(vim.o.lines / 2) })
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(win),
    once = true,
    callback = function()
      vim.schedule(function()
        if waiting == this and vim.v.exiting == vim.NIL then
          require("superpower.notify").info(
            ("stage %d still waits for its result: :Superpower gate"):format(this.stage)
          )
        end
      end)
    end,
  })
end

--- Opens the stage that waits to be carried out by hand. Says whether there is one.
---@return boolean
function M.open()
  if waiting then
    show(true)
  end
  return waiting ~= nil
end

--- The stage that waits to be carried out by hand.
---@return { label: string, stage: integer }?
function M.waiting()
  return waiting
end

---@param event table
function M.asked(event)
  waiting = {
    launch = event.launch,
    root = event.root,
    run_id = event.run_id,
    stage = event.stage,
    label = event.label or "",
    prompt_path = event.prompt_path,
  }
  M.renew()
end

--- Opens it as soon as nobody types; also when a user interface has come, since nobody was there before.
function M.renew()
  local this = waiting
  if not this or require("superpower.notify").headless() then
    return
  end
  require("superpower.attention").when_quiet(function()
    if waiting == this then
      show(true)
    end
  end, function()
    require("superpower.notify").news(
      ("stage %d is to be done by hand. :Superpower gate opens it"):format(this.stage),
      "info",
      true
    )
  end)
end

--- The run has stopped: no stage of it waits for a result.
---@param event { run_id: string }
function M.stopped(event)
  if waiting and waiting.run_id == event.run_id then
    waiting = nil
  end
end

---@param event { run_id: string, launch: any }
function M.gone(event)
  if waiting and waiting.run_id == event.run_id and waiting.launch == event.launch then
    waiting = nil
  end
end

return M
