--- Shows a file under review in a tab: at the left as it was at the last approval, at the right as it is now. The
--- right side can be edited, and the edits become part of the run.
local path_check = require("superpower.base.path_check")
local text = require("superpower.base.text")
local attention = require("superpower.editor.attention")
local actions = require("superpower.editor.actions")
local notify = require("superpower.notify")
local session = require("superpower.session")

local M = {}

---@param root string?
---@param file superpower.ReviewFile?
---@return boolean
local function has_file(root, file)
  if not root or not file then
    notify.info("no file has changed since the last approval")
    return false
  end
  return true
end

---@param lines string[]
---@param name string
---@param filetype string?
---@return integer
local function scratch(lines, name, filetype)
  local buf = actions.buffer(false, true)
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].modeline = false
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  pcall(vim.api.nvim_buf_set_name, buf, ("superpower://%d/%s"):format(buf, name))
  if filetype then
    vim.bo[buf].filetype = filetype
  end
  return buf
end

--- Returns why a file under review cannot be opened.
---@param path string
---@param file superpower.ReviewFile
---@return string
local function absent(path, file)
  local problem = path_check.problem(path)
  if problem then
    return problem
  end
  local target = vim.uv.fs_readlink(path)
  if target then
    return ("a broken link to %s"):format(text.line(target))
  elseif file.path:find("\239\191\189", 1, true) then
    return "cannot be opened: its name is not UTF-8"
  end
  return file.status == "-" and "deleted" or "no longer exists"
end

--- Shows above a window what it is, and how to leave.
---@param win integer
---@param what string
---@param how string
function M.label(win, what, how)
  local room = vim.api.nvim_win_get_width(win) - text.width(how) - 4
  local words = room > 12 and how or ""
  what = text.path(text.line(what), words ~= "" and room or vim.api.nvim_win_get_width(win) - 2)
  what = what:gsub("%%", "%%%%")
  local bar = ("%%#SuperpowerTitle# %s %%=%%#SuperpowerNote#%s "):format(what, words)
  vim.api.nvim_set_option_value("winbar", bar, { win = win, scope = "local" })
end

---@class superpower.OpenDiff
---@field root string
---@field run_id string
---@field gate string
---@field left integer the window with the file as it was
---@field after integer the window with the file as it is

local open = {} ---@type table<integer, superpower.OpenDiff> by tab page

--- Shows both sides in a tab. When the tab closes, the cursor returns to the gate's window `from`.
---@param from integer
---@param of { root: string, run_id: string, gate: string }
---@param file superpower.ReviewFile
---@param value { before: string?, after: string?, after_path: string? }
local function show(from, of, file, value)
  local path = value.after_path or vim.fs.joinpath(of.root, file.path)
  local filetype = vim.filetype.match({ filename = file.path })
  local before = vim.split(value.before or "", "\n", { plain = true })
  if #before > 1 and before[#before] == "" then
    table.remove(before)
  end
  if vim.uv.fs_stat(path) and not path_check.problem(path) then
    if not actions.file("tabedit", path) then
      return
    end
  elseif value.after then
    actions.split("tabnew")
    vim.api.nvim_win_set_buf(0, scratch(vim.split(value.after, "\n", { plain = true }), file.path, filetype))
  else
    local words = absent(path, file)
    actions.split("tabnew")
    vim.api.nvim_win_set_buf(
      0,
      scratch(file.status == "-" and {} or { words }, file.path .. " (" .. words .. ")", filetype)
    )
  end
  vim.t.superpower_diff = true
  local after = vim.api.nvim_get_current_win()
  actions.split("leftabove vsplit")
  vim.api.nvim_win_set_buf(0, scratch(before, file.path .. " (at the last approval)", filetype))
  vim.cmd.diffthis()
  local left = vim.api.nvim_get_current_win()
  M.label(left, "at the last approval", "q goes back")
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = 0, nowait = true, desc = "Close the diff" })
  actions.enter(after)
  vim.cmd.diffthis()
  M.label(after, "now: " .. file.path, "edits are kept   :tabclose goes back")
  local tab = vim.api.nvim_get_current_tabpage()
  open[tab] = vim.tbl_extend("force", of, { left = left, after = after })
  vim.api.nvim_create_autocmd("TabClosed", {
    callback = function()
      if vim.api.nvim_tabpage_is_valid(tab) then
        return false
      end
      open[tab] = nil
      vim.schedule(function()
        if vim.api.nvim_win_is_valid(from) and not attention.busy() then
          actions.enter(from)
        end
      end)
      return true
    end,
  })
end

--- Handles a decided gate: its diffs now compare with the approval before. A diff of a gate that was decided here is
--- closed. One that has unsaved edits, or was decided elsewhere, stays and says so.
---@param run_id string
---@param gate string
---@param here boolean
function M.decided(run_id, gate, here)
  for tab, this in pairs(open) do
    local valid = vim.api.nvim_tabpage_is_valid(tab)
    if valid and this.run_id == run_id and this.gate == gate then
      local edited = vim.api.nvim_win_is_valid(this.after) and vim.bo[vim.api.nvim_win_get_buf(this.after)].modified
      local closed = here and not edited and #vim.api.nvim_list_tabpages() > 1
      closed = closed and pcall(vim.cmd.tabclose, vim.api.nvim_tabpage_get_number(tab))
      if not closed then
        open[tab] = nil
        if vim.api.nvim_win_is_valid(this.left) then
          M.label(this.left, "before the decided gate", "q goes back")
          local buf = vim.api.nvim_win_get_buf(this.left)
          local name = vim.api.nvim_buf_get_name(buf):gsub(" %(at the last approval%)$", " (before the decided gate)")
          pcall(vim.api.nvim_buf_set_name, buf, name)
        end
      end
    end
  end
end

--- Checks the diffs of a project whose run changed: those whose gate no longer waits say so.
---@param root string
---@param check fun(of: superpower.OpenDiff, done: fun(waits: boolean, here: boolean)) whether its gate waits, and whether
---it was decided here
function M.follow(root, check)
  for _, this in pairs(vim.tbl_extend("force", {}, open)) do
    if this.root == root then
      check(this, function(waits, here)
        if not waits then
          M.decided(this.run_id, this.gate, here)
        end
      end)
    end
  end
end

---@param root string?
---@param run_id string the run whose last approval is compared
---@param gate string the gate that asks
---@param file superpower.ReviewFile?
function M.open(root, run_id, gate, file)
  if not has_file(root, file) then
    return
  end
  ---@cast root string
  ---@cast file superpower.ReviewFile
  local from = vim.api.nvim_get_current_win()
  session.ask("diff", { root = root, run_id = run_id, path = file.path }, function(value, err)
    if err then
      notify.engine_error(err)
    elseif vim.api.nvim_get_current_win() == from then -- otherwise the user has moved on
      show(from, { root = root, run_id = run_id, gate = gate }, file, value)
    end
  end)
end

---@param root string?
---@param file superpower.ReviewFile?
function M.edit(root, file)
  if has_file(root, file) then
    ---@cast root string
    ---@cast file superpower.ReviewFile
    local path = vim.fs.joinpath(root, file.path)
    if vim.uv.fs_stat(path) then
      actions.file("tabedit", path)
    else
      local words = absent(path, file)
      notify.info(("%s: %s"):format(text.line(file.path), words))
    end
  end
end

return M
