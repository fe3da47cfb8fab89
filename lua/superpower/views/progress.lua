--- The progress window. It follows the run, never takes the focus, and survives resizing, tabs and colour schemes.
local manual = require("superpower.ask.manual")
local inbox = require("superpower.ask.inbox")
local text = require("superpower.base.text")
local config = require("superpower.config")
local actions = require("superpower.editor.actions")
local gate = require("superpower.gate")
local runs = require("superpower.runs")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")
local keymaps = require("superpower.ui.keys")
local message_line = require("superpower.ui.message_line")
local render = require("superpower.ui.render")
local run_text = require("superpower.ui.run_text")
local output = require("superpower.views.output")
local progress_layout = require("superpower.views.progress_layout")
local why = require("superpower.views.why")

local M = {}

local window ---@type superpower.Float?
local root ---@type string?
local rows = {} ---@type table<integer, integer>
local placed = "" ---@type string the geometry that was last set
local group ---@type integer?

---@param run superpower.Snapshot
---@param at integer
---@param width integer
---@return superpower.Chunk[] title, superpower.Chunk[] footer
local function edges(run, at, width)
  local state = ("%d/%d · %s · %s"):format(
    run.current_stage,
    run.total,
    run_text.state(run),
    text.clock(run_text.elapsed(run, at))
  )
  local name = text.cut(text.line(run.superpower), math.max(4, width - text.width(state) - 6))
  local title = frame.edge(
    { { " " .. name .. " ", "SuperpowerTitle" } },
    { { " " .. state .. " ", "SuperpowerTitle" } },
    width
  )
  local usage = run_text.usage(run)
  local left = usage ~= "" and { { " " .. usage .. " ", "SuperpowerFooter" } } or {}
  local keys = { { lhs = "<CR>", label = "output" }, { lhs = "p", label = "prompt" }, { lhs = "w", label = "why" } }
  local opens = run_text.waits_for(run)
  if opens then
    table.insert(keys, 1, { lhs = "g", label = opens })
  end
  local help = { { " g?", "SuperpowerKey" }, { " ", "SuperpowerFooter" } }
  local footer = frame.keys(keys, width - frame.cells(left) - frame.cells(help))
  return title, frame.edge(left, vim.list_extend(footer, help), width)
end

--- Paints the newest snapshot.
function M.refresh()
  local run = root and runs.get(root)
  if not run or not window or not float.valid(window) or message_line.is_shown() then
    return
  end
  local opts = progress_layout.of(run)
  local split = vim.api.nvim_win_get_config(window.win).relative == "" -- by option, or by the user's CTRL-W H
  local at = runs.now()
  if not split then
    local key = ("%d %d %d %d %s"):format(opts.width, opts.height, opts.row, opts.col, tostring(opts.hide))
    if key ~= placed then
      placed = key
      float.move(window, opts)
    end
  end
  local width = vim.api.nvim_win_get_width(window.win)
  local height = vim.api.nvim_win_get_height(window.win)
  local focused = vim.api.nvim_get_current_win() == window.win
  if split then
    height = height - 1
  end
  local rendered = render.progress(run, {
    width = width,
    height = focused and #run.stages <= 500 and 1000 or height,
    now = at,
    received = run.received,
    icons = config.get().icons,
  })
  rows = rendered.stages
  float.paint(window.buf, rendered.lines)
  local title, footer = edges(run, at, width)
  frame.set(window, title, footer)
  message_line.redrawn()
end

---@return integer? position of the stage under the cursor
local function under_cursor()
  return window and rows[vim.api.nvim_win_get_cursor(window.win)[1]]
end

---@param what "output"|"prompt"
local function show(what)
  local stage = under_cursor()
  local run = root and runs.get(root)
  if not stage or not run then
    return
  end
  if what == "output" and run.gate and run.gate.stage == stage and run.stages[stage].kind == "gate" then
    gate.open(run.root, { run_id = run.run_id })
    return
  elseif what == "output" and stage == run.current_stage and manual.open(run.root, run.run_id) then
    return
  end
  output.open(run.root, stage, what, run.run_id)
end

---@type superpower.Key[]
local keys = {
  {
    lhs = "<CR>",
    desc = "output of the stage (of a gate or a manual stage: open it)",
    fn = function()
      show("output")
    end,
  },
  {
    lhs = "p",
    desc = "prompt of the stage",
    fn = function()
      show("prompt")
    end,
  },
  {
    lhs = "w",
    desc = "why the stage is what it is",
    fn = function()
      local stage = under_cursor()
      local run = root and runs.get(root)
      if stage and run then
        why.open(run.root, stage, run.run_id)
      end
    end,
  },
  {
    lhs = "g",
    desc = "open what waits: a gate, a question, a manual stage",
    fn = function()
      local run = root and runs.get(root)
      if run then
        runs.show(run.root)
        inbox.open(run.run_id)
      end
    end,
  },
  {
    lhs = "q",
    desc = "close",
    fn = function()
      M.close()
    end,
  },
}

local function open_window()
  local run = root and runs.get(root)
  if not run or not float.possible() or vim.t.superpower_diff then
    return
  end
  local opts, split = progress_layout.of(run)
  if split then
    local buf = float.buffer("superpower-progress")
    local win = actions.open(buf, false, { split = "below", win = -1, height = opts.height, style = "minimal" })
    float.dress(win)
    window = { win = win, buf = buf }
  else
    window = float.open(opts)
  end
  placed = ""
  keymaps.set(window.buf, "Progress", keys)
  vim.api.nvim_set_option_value("cursorline", false, { win = window.win, scope = "local" })
  M.refresh()
end

local function follow()
  group = vim.api.nvim_create_augroup("superpower-progress", { clear = true })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, callback = callback })
  end
  on({ "VimResized", "ColorScheme", "WinResized" }, function()
    vim.schedule(M.refresh)
  end)
  on({ "CursorMoved", "CursorMovedI" }, function()
    local run = root and runs.get(root)
    local was = progress_layout.above()
    if run and M.is_open() and not select(2, progress_layout.of(run)) and was ~= progress_layout.above() then
      vim.schedule(M.refresh)
    end
  end)
  on("CmdwinLeave", function()
    vim.schedule(function()
      if not M.is_open() and root then
        open_window()
      end
    end)
  end)
  on("TabEnter", function()
    local was = window
    vim.schedule(function()
      if group and was == window and was and float.valid(was) then
        if vim.t.superpower_diff then
          return -- a diff needs the room; the window stays in its own tab
        elseif vim.api.nvim_win_get_tabpage(was.win) ~= vim.api.nvim_get_current_tabpage() then
          window = nil
          float.close(was)
          open_window()
        end
      elseif group and root and not M.is_open() then
        open_window()
      end
    end)
  end)
  on("WinEnter", function()
    local inside = window and vim.api.nvim_get_current_win() == window.win
    if window and float.valid(window) then
      vim.api.nvim_set_option_value("cursorline", inside or false, { win = window.win, scope = "local" })
    end
    vim.schedule(M.refresh)
  end)
  on("WinClosed", function(args)
    if window and tonumber(args.match) == window.win then
      local tab = vim.api.nvim_win_get_tabpage(window.win)
      window = nil
      vim.schedule(function()
        if window or not group then
          return
        elseif vim.api.nvim_tabpage_is_valid(tab) then
          M.close()
        else
          open_window()
        end
      end)
    end
  end)
  runs.listen("progress", function(what, of)
    if what == "tick" or (what == "snapshot" and of == root) then
      M.refresh()
    end
  end)
end

---@return boolean
function M.is_open()
  return float.valid(window)
end

--- Opens the window for a project's run, without taking the focus.
---@param at string root
function M.open(at)
  root = at
  if M.is_open() then
    M.refresh()
    return
  end
  follow()
  open_window()
end

--- Closes the window. The run continues.
function M.close()
  runs.listen("progress", nil)
  if group then
    pcall(vim.api.nvim_del_augroup_by_id, group)
    group = nil
  end
  local was = window
  window, root = nil, nil
  float.close(was)
end

return M
