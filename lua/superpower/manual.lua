--- The `manual` harness: a stage carried out by hand. Its prompt opens in a buffer with room for the result below; `:w`
--- hands the result in. Closing the buffer decides nothing; `:Superpower gate` opens it again.
local M = {}

local rule = "--- write the result below this line; :w hands it in ---"

---@type { launch: any, root: string, run_id: string, stage: integer, label: string, prompt_path: string, buf?: integer, draft?: string[] }?
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
  vim.bo[buf].modified = false
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
  vim.schedule(function()
    if vim.api.nvim_buf_is_valid(buf) then
      vim.api.nvim_buf_delete(buf, { force = true })
    end
  end)
end

---@param enter boolean
local function show(enter)
  local this = assert(waiting)
  if this.buf and vim.api.nvim_buf_is_valid(this.buf) then
    local win = vim.fn.bufwinid(this.buf)
    if win ~= -1 and enter then
      vim.api.nvim_set_current_win(win)
    end
    if win ~= -1 then
      return
    end
  end
  local lines = this.draft
  if not lines then
    local ok, prompt = pcall(vim.fn.readfile, this.prompt_path)
    lines = vim.tbl_map(require("superpower.ui.text").visible, ok and prompt or { "(no prompt)" })
    vim.list_extend(lines, { "", rule, "" })
  end
  local buf = vim.api.nvim_create_buf(true, false)
  this.buf = buf
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.bo[buf].modeline = false
  vim.api.nvim_buf_set_name(buf, ("superpower://manual/stage-%d/%s"):format(this.stage, tostring(this.launch)))
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modified = false
  vim.bo[buf].filetype = "markdown"
  local win = vim.api.nvim_open_win(buf, enter, { split = "below", win = -1, height = math.floor(vim.o.lines / 2) })
  vim.api.nvim_win_set_cursor(win, { #lines, 0 })
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      hand_in(buf)
    end,
  })
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      vim.bo[buf].modified = false -- so that nothing but a written `:w` hands it in
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      if waiting == this and vim.v.exiting == vim.NIL then
        this.draft = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
        this.buf = nil
        require("superpower.notify").info(("stage %d still waits for its result: :Superpower gate"):format(this.stage))
      end
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
  if require("superpower.notify").headless() then
    return
  end
  require("superpower.attention").when_quiet(function()
    if waiting and waiting.launch == event.launch then
      show(true)
    end
  end, function()
    require("superpower.notify").news(
      ("stage %d is to be done by hand. :Superpower gate opens it"):format(event.stage),
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

---@param event { launch: any }
function M.gone(event)
  if waiting and waiting.launch == event.launch then
    waiting = nil
  end
end

return M
