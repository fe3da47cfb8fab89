--- Floats with a border, a title and a footer, and buffers painted from lines of chunks. The content is computed
--- elsewhere.
local settings = require("superpower.config")
local actions = require("superpower.editor.actions")
local highlights = require("superpower.ui.highlights")

local M = {}

local namespace = vim.api.nvim_create_namespace("superpower")

---@class superpower.FloatOpts
---@field filetype string
---@field width integer inner
---@field height integer inner
---@field row integer of the border
---@field col integer of the border
---@field enter? boolean
---@field zindex? integer
---@field wrap? boolean
---@field modifiable? boolean
---@field name? string
---@field hide? boolean there is no room for it

---@class superpower.Float
---@field win integer
---@field buf integer

--- Returns the border, and the character of its top line.
---@return string|string[] border, string fill
function M.border()
  local border = settings.get().border
  if border == "" then
    border = vim.fn.exists("+winborder") == 1 and vim.o.winborder or ""
  end
  if border == "" then
    border = "rounded"
  elseif border == "none" or border == "shadow" then
    border = "solid" -- the title and the keys are in the border, which needs both lines
  elseif border:find(",") then
    local parts = vim.split(border, ",")
    if #parts == 8 and parts[2] ~= "" and parts[6] ~= "" then
      return parts, parts[2]
    end
    border = #parts == 8 and "solid" or "rounded"
  end
  local fills = { single = "─", rounded = "─", double = "═", bold = "━" }
  if border == "bold" and vim.fn.has("nvim-0.11") == 0 then
    border = "single"
  end
  return border, fills[border] or " "
end

--- Whether a window can be opened now.
---@return boolean
function M.possible()
  return vim.fn.getcmdwintype() == "" and vim.v.exiting == vim.NIL
end

---@param opts superpower.FloatOpts
---@return vim.api.keyset.win_config
local function geometry(opts)
  local border = M.border()
  return {
    relative = "editor",
    width = math.max(1, opts.width),
    height = math.max(1, opts.height),
    row = math.max(0, opts.row),
    col = math.max(0, opts.col),
    style = "minimal",
    border = border,
    zindex = opts.zindex or 50,
    hide = opts.hide or false,
  }
end

---@param win integer
---@param wrap boolean?
function M.dress(win, wrap)
  local set = { scope = "local", win = win }
  local value = vim.api.nvim_set_option_value
  value("wrap", wrap or false, set)
  value("linebreak", true, set)
  value("breakindent", true, set)
  value("foldenable", false, set)
  value("conceallevel", 2, set)
  value("concealcursor", "nc", set)
  value("spell", false, set)
  value("statuscolumn", wrap and " " or "", set)
  value("list", false, set)
  value("winfixbuf", vim.fn.has("nvim-0.11") == 1, set)
  value(
    "winhighlight",
    "NormalFloat:SuperpowerNormal,Normal:SuperpowerNormal,FloatBorder:SuperpowerBorder,FloatTitle:SuperpowerTitle,"
      .. "WinBar:SuperpowerNormal,WinBarNC:SuperpowerNormal",
    set
  )
end

local painted = {} ---@type table<integer, superpower.Line[]>

--- Sets the filetype of a buffer. An error in the user's settings for it must not prevent a question from being asked.
---@param buf integer
---@param filetype string
function M.filetype(buf, filetype)
  pcall(actions.run, function()
    vim.api.nvim_set_option_value("filetype", filetype, { buf = buf })
  end)
end

--- Makes a scratch buffer that is wiped with its window.
---@param filetype string
---@param name? string
---@return integer
function M.buffer(filetype, name)
  local buf = actions.buffer(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.bo[buf].undolevels = -1
  vim.bo[buf].modifiable = false
  name = name or "superpower://" .. filetype:gsub("^superpower%-", "")
  if vim.fn.bufexists(name) == 1 then
    name = ("%s/%d"):format(name, buf)
  end
  pcall(actions.name, buf, name)
  M.filetype(buf, filetype)
  vim.api.nvim_create_autocmd("BufReadCmd", { -- `:e!`
    buffer = buf,
    callback = function()
      M.paint(buf, painted[buf] or {}, true)
      vim.bo[buf].filetype = filetype
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    buffer = buf,
    callback = function()
      painted[buf] = nil
    end,
  })
  return buf
end

---@param opts superpower.FloatOpts
---@param buf? integer
---@return superpower.Float
function M.open(opts, buf)
  highlights.setup()
  buf = buf or M.buffer(opts.filetype, opts.name)
  local win = actions.open(buf, opts.enter or false, geometry(opts))
  M.dress(win, opts.wrap)
  return { win = win, buf = buf }
end

---@param float superpower.Float?
---@return boolean
function M.valid(float)
  return float ~= nil and vim.api.nvim_win_is_valid(float.win) and vim.api.nvim_buf_is_valid(float.buf)
end

---@param float superpower.Float
---@param opts superpower.FloatOpts
function M.move(float, opts)
  local config = geometry(opts)
  config.style = nil
  vim.api.nvim_win_set_config(float.win, config)
end

---@param line superpower.Line
---@return string
local function plain(line)
  local parts = {}
  for _, chunk in ipairs(line) do
    table.insert(parts, chunk[1])
  end
  return table.concat(parts)
end

--- Paints lines of chunks over the whole buffer. Unchanged lines are not touched: each change makes Neovim redraw, and
--- with `cmdheight=0` that would overwrite a message.
---@param buf integer
---@param lines superpower.Line[]
---@param full? boolean paint every line, because something else has changed the buffer
function M.paint(buf, lines, full)
  local old = not full and painted[buf] or {}
  painted[buf] = lines
  local from, till = 1, #lines
  while from <= #lines and vim.deep_equal(old[from], lines[from]) do
    from = from + 1
  end
  if #old == #lines then
    while till >= from and vim.deep_equal(old[till], lines[till]) do
      till = till - 1
    end
    if from > till then
      return
    end
  end
  local last = #old == #lines and till or -1
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, from - 1, last, false, vim.tbl_map(plain, vim.list_slice(lines, from, till)))
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  vim.api.nvim_buf_clear_namespace(buf, namespace, from - 1, last)
  for row = from, till do
    local line = lines[row]
    local col = 0
    for _, chunk in ipairs(line) do
      local ends = col + #chunk[1]
      if chunk[2] and ends > col then
        vim.api.nvim_buf_set_extmark(buf, namespace, row - 1, col, {
          end_col = ends,
          hl_group = chunk[2],
          priority = 200,
        })
      end
      col = ends
    end
  end
end

--- Prepares closing a window. Neovim 0.11 and 0.12 crash when a float is closed that is the current window of another
--- tab page, and the window that was current there before is gone.
---@param win integer
function M.leave(win)
  local tab = vim.api.nvim_win_get_tabpage(win)
  if tab == vim.api.nvim_get_current_tabpage() or vim.api.nvim_tabpage_get_win(tab) ~= win then
    return
  end
  for _, other in ipairs(vim.api.nvim_tabpage_list_wins(tab)) do
    if vim.api.nvim_win_get_config(other).relative == "" then
      return vim.api.nvim_tabpage_set_win(tab, other)
    end
  end
end

---@param float superpower.Float?
function M.close(float)
  if float and vim.api.nvim_win_is_valid(float.win) then
    M.leave(float.win)
    pcall(actions.close, float.win)
  end
end

--- Returns the rows and columns for floats, without the command line and the tab line.
---@return { width: integer, height: integer, top: integer }
function M.screen()
  local top = (vim.o.showtabline == 2 or (vim.o.showtabline == 1 and #vim.api.nvim_list_tabpages() > 1)) and 1 or 0
  local bottom = vim.o.cmdheight + (vim.o.laststatus > 0 and 1 or 0)
  return { width = vim.o.columns, height = math.max(3, vim.o.lines - top - bottom), top = top }
end

--- Returns the wanted width, or the whole width of a narrow screen, so that the borders of stacked windows are
--- aligned.
---@param wanted integer
---@return integer
function M.wide(wanted)
  local screen = M.screen().width
  return math.max(10, screen < wanted + 8 and screen - 2 or wanted)
end

--- Returns a place in the middle of the editor.
---@param width integer
---@param height integer
---@return { row: integer, col: integer, width: integer, height: integer }
function M.centre(width, height)
  local screen = M.screen()
  width = math.max(10, math.min(width, screen.width - 2))
  height = math.max(1, math.min(height, screen.height - 2))
  return {
    width = width,
    height = height,
    row = screen.top + math.max(0, math.floor((screen.height - height - 2) / 2)),
    col = math.max(0, math.floor((screen.width - width - 2) / 2)),
  }
end

return M
