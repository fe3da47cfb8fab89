--- Shows a stage's output or prompt in a scratch buffer: never the file itself, so that agent text is not read as a
--- modeline, and control characters are visible. Output that still grows is followed.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local notify = require("superpower.notify")
local runs = require("superpower.runs")
local file_tail = require("superpower.runs.file_tail")
local session = require("superpower.session")
local float = require("superpower.ui.float")
local keymaps = require("superpower.ui.keys")
local transcripts = require("superpower.views.transcript")

local M = {}

local max_bytes = 4 * 1024 * 1024
--- Least time between two checks of the shown files, in milliseconds.
local interval = 500

---@class superpower.Shown
---@field root string
---@field path string
---@field raw boolean
---@field size integer
---@field readable boolean whether it can be shown as a transcript

local shown = {} ---@type table<integer, superpower.Shown> by buffer

---@param root string
---@param path string
---@return string[]? lines, string|integer problem_or_size
local function read(root, path)
  local part, problem = file_tail.last(root, path, max_bytes)
  if not part then
    return nil, problem or "?"
  end
  local lines = vim.split(part.text:gsub("\r\n", "\n"), "\n", { plain = true })
  if part.from > 0 then
    lines[1] = ("… the last %d MiB of %d"):format(max_bytes / 1048576, math.floor(part.size / 1048576))
  end
  return lines, part.size
end

---@param name string
---@param filetype string
---@return integer buf in a new window, or the window that already shows it
local function scratch(name, filetype)
  local buf = vim.fn.bufnr("^" .. vim.fn.escape(name, "[]*?{}\\") .. "$")
  if buf ~= -1 and vim.fn.bufwinid(buf) ~= -1 then
    actions.enter(vim.fn.bufwinid(buf))
    return buf
  end
  if buf ~= -1 then
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
  end
  actions.split("botright new")
  buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.bo[buf].modeline = false
  actions.name(buf, name)
  for option, value in pairs({
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "0",
    list = false,
    linebreak = true,
    breakindent = true,
  }) do
    vim.api.nvim_set_option_value(option, value, { win = 0, scope = "local" })
  end
  float.filetype(buf, filetype)
  return buf
end

---@param buf integer
---@param lines string[]
function M.fill(buf, lines)
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Opens a read-only buffer in a split. `q` returns to the window that it was opened from.
---@param title string of its keys
---@param name string
---@param filetype string
---@param lines string[]
---@param keys? superpower.Key[]
---@param back? fun() returns to the page that was closed for it
---@return integer buf
function M.show(title, name, filetype, lines, keys, back)
  local from = vim.api.nvim_get_current_win()
  local buf = scratch(name, filetype)
  M.fill(buf, lines)
  local all = vim.list_extend({}, keys or {})
  table.insert(all, {
    lhs = "q",
    desc = "close",
    fn = function()
      pcall(vim.api.nvim_win_close, 0, false)
      if back then
        back()
      elseif vim.api.nvim_win_is_valid(from) then
        actions.enter(from)
      end
    end,
  })
  keymaps.set(buf, title, all)
  return buf
end

--- Reads the file again. Windows whose cursor is at the end stay at the end.
---@param buf integer
local function refresh(buf)
  local this = shown[buf]
  local lines, size = read(this.root, this.path)
  if not lines then
    return
  end
  ---@cast size integer
  this.size = size
  if not this.raw then
    local transcript, any = transcripts.render(lines)
    this.readable = any
    lines = any and transcript or lines
  end
  local ends = {}
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    if vim.api.nvim_win_get_cursor(win)[1] >= vim.api.nvim_buf_line_count(buf) then
      table.insert(ends, win)
    end
  end
  while #lines > 1 and lines[#lines]:match("^%s*$") do
    table.remove(lines)
  end
  M.fill(
    buf,
    vim.tbl_map(function(line)
      return text.visible((line:gsub("\t", "    ")))
    end, lines)
  )
  for _, win in ipairs(ends) do
    vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(buf), 0 })
  end
end

--- Reads the shown files that have grown, and stops listening when none is shown any more.
local function check()
  for buf, this in pairs(shown) do
    local stat = vim.api.nvim_buf_is_valid(buf) and vim.uv.fs_stat(this.path) or nil
    if not vim.api.nvim_buf_is_valid(buf) then
      shown[buf] = nil
    elseif stat and stat.size ~= this.size then
      refresh(buf)
    end
  end
  if not next(shown) then
    runs.listen("output", nil)
  end
end

--- Checks after each event of a run, at most twice a second. An event that comes too early is not forgotten but checked
--- later: no other follows the last one of a run, and the last lines would be missing.
local function follow()
  local checked, due = 0, false
  runs.listen("output", function(what)
    if what == "log" or due then
      return
    end
    due = true
    vim.defer_fn(function()
      checked, due = vim.uv.now(), false
      check()
    end, math.max(0, checked + interval - vim.uv.now()))
  end)
end

---@param root string
---@param path string
---@param stage integer
---@param what "output"|"prompt"
---@param back? fun() returns to the page that was closed for it
local function show(root, path, stage, what, back)
  local there, problem = file_tail.last(root, path, 1)
  if not there then
    notify.error(("cannot read the %s of stage %d: %s"):format(what, stage, problem))
    return
  end
  local buf ---@type integer
  local keys = what == "output"
      and {
        {
          lhs = "r",
          desc = "toggle raw and readable",
          fn = function()
            if not shown[buf].readable then
              return notify.info("this output has no readable form: it is shown as printed")
            end
            shown[buf].raw = not shown[buf].raw
            refresh(buf)
          end,
        },
      }
    or nil
  local filetype = what == "prompt" and "markdown" or "superpower-output"
  buf = M.show(
    ("Stage %d: %s"):format(stage, what),
    ("superpower://stage-%d/%s"):format(stage, what),
    filetype,
    {},
    keys,
    back
  )
  shown[buf] = { root = root, path = path, raw = what == "prompt", size = -1, readable = false }
  refresh(buf)
  vim.api.nvim_win_set_cursor(0, { what == "output" and vim.api.nvim_buf_line_count(buf) or 1, 0 })
  if what == "output" then
    follow()
  end
end

---@param root string
---@param stage integer
---@param what "output"|"prompt"
---@param run_id? string another run than the current one
---@param back? fun() returns to the page that was closed for it
function M.open(root, stage, what, run_id, back)
  session.ask("output", { root = root, run_id = run_id, stage = stage, what = what }, function(value, err)
    if err then
      return notify.engine_error(err)
    end
    show(root, value.path, stage, what, back)
  end)
end

return M
