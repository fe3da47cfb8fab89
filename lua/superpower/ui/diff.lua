--- A file under review in a tab: as it was at the last approval at the left, as it is now at the right, to be read and to
--- be edited. The edit is what goes on.
local M = {}

---@param root string?
---@param file superpower.ReviewFile?
---@return boolean
local function given(root, file)
  if not root or not file then
    require("superpower.notify").info("no file has changed since the last approval")
    return false
  end
  return true
end

---@param lines string[]
---@param name string
---@param filetype string?
---@return integer
local function scratch(lines, name, filetype)
  local buf = vim.api.nvim_create_buf(false, true)
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

--- Why a file under review cannot be opened.
---@param path string
---@param file superpower.ReviewFile
---@return string
local function absent(path, file)
  local target = vim.uv.fs_readlink(path)
  if target then
    return ("a link to %s, which is not there"):format(require("superpower.ui.text").line(target))
  elseif file.path:find("\239\191\189", 1, true) then
    return "its name is not UTF-8, so it cannot be opened here"
  end
  return file.status == "-" and "deleted" or "not there any more"
end

--- Says above a window what it shows, and how to leave.
---@param win integer
---@param what string
---@param how string
function M.label(win, what, how)
  local text = require("superpower.ui.text")
  local room = vim.api.nvim_win_get_width(win) - text.width(how) - 4
  local words = room > 12 and how or ""
  what = text.path(text.line(what), words ~= "" and room or vim.api.nvim_win_get_width(win) - 2)
  what = what:gsub("%%", "%%%%")
  local bar = ("%%#SuperpowerTitle# %s %%=%%#SuperpowerNote#%s "):format(what, words)
  vim.api.nvim_set_option_value("winbar", bar, { win = win, scope = "local" })
end

--- Both sides in a tab, from the window of the gate, where its end leads back to.
---@param gate integer
---@param root string
---@param file superpower.ReviewFile
---@param value { before: string?, after_path: string? }
local function show(gate, root, file, value)
  local path = value.after_path or vim.fs.joinpath(root, file.path)
  local filetype = vim.filetype.match({ filename = file.path })
  local before = vim.split(value.before or "", "\n", { plain = true })
  if #before > 1 and before[#before] == "" then
    table.remove(before)
  end
  if vim.uv.fs_stat(path) then
    vim.cmd.tabedit(vim.fn.fnameescape(path))
  else
    local words = absent(path, file)
    vim.cmd.tabnew()
    vim.api.nvim_win_set_buf(
      0,
      scratch(file.status == "-" and {} or { words }, file.path .. " (" .. words .. ")", filetype)
    )
  end
  vim.t.superpower_diff = true
  local after = vim.api.nvim_get_current_win()
  vim.cmd("leftabove vsplit")
  vim.api.nvim_win_set_buf(0, scratch(before, file.path .. " (at the last approval)", filetype))
  vim.cmd.diffthis()
  local left = vim.api.nvim_get_current_buf()
  M.label(vim.api.nvim_get_current_win(), "at the last approval", "q goes back")
  vim.api.nvim_set_current_win(after)
  vim.cmd.diffthis()
  M.label(after, "now: " .. file.path, "edits go on   :tabclose goes back")
  vim.keymap.set("n", "q", "<Cmd>tabclose<CR>", { buffer = left, nowait = true, desc = "Close the diff" })
  local tab = vim.api.nvim_get_current_tabpage()
  vim.api.nvim_create_autocmd("TabClosed", {
    callback = function()
      if vim.api.nvim_tabpage_is_valid(tab) then
        return false
      end
      vim.schedule(function()
        if vim.api.nvim_win_is_valid(gate) and not require("superpower.attention").busy() then
          vim.api.nvim_set_current_win(gate)
        end
      end)
      return true
    end,
  })
end

---@param root string?
---@param run_id string whose last approval it is compared with
---@param file superpower.ReviewFile?
function M.open(root, run_id, file)
  if not given(root, file) then
    return
  end
  ---@cast root string
  ---@cast file superpower.ReviewFile
  local gate = vim.api.nvim_get_current_win()
  require("superpower.session").ask("diff", { root = root, run_id = run_id, path = file.path }, function(value, err)
    if err then
      require("superpower.notify").fault(err)
    elseif vim.api.nvim_get_current_win() == gate then -- else the user has gone on to something else
      show(gate, root, file, value)
    end
  end)
end

---@param root string?
---@param file superpower.ReviewFile?
function M.edit(root, file)
  if given(root, file) then
    ---@cast root string
    ---@cast file superpower.ReviewFile
    local path = vim.fs.joinpath(root, file.path)
    if vim.uv.fs_stat(path) then
      vim.cmd.tabedit(vim.fn.fnameescape(path))
    else
      local words = absent(path, file)
      require("superpower.notify").info(("%s: %s"):format(require("superpower.ui.text").line(file.path), words))
    end
  end
end

return M
