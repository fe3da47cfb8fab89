--- A file under review in a tab: as it was at the last approval at the left, as it is now at the right, to be read and to
--- be edited. The edit is what goes on.
local M = {}

---@param root string?
---@param file superpower.ReviewFile?
---@return boolean
local function given(root, file)
  if not root or not file then
    require("superpower.notify").info("put the cursor on a file")
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

---@param root string?
---@param file superpower.ReviewFile?
function M.open(root, file)
  if not given(root, file) then
    return
  end
  ---@cast root string
  ---@cast file superpower.ReviewFile
  local value, err = require("superpower.session").call("diff", { root = root, path = file.path })
  if err then
    require("superpower.notify").fault(err)
    return
  end
  local path = value.after_path or vim.fs.joinpath(root, file.path)
  local filetype = vim.filetype.match({ filename = file.path })
  local before = vim.split(value.before or "", "\n", { plain = true })
  if #before > 1 and before[#before] == "" then
    table.remove(before)
  end
  local gate = vim.api.nvim_get_current_win()
  if vim.uv.fs_stat(path) then
    vim.cmd.tabedit(vim.fn.fnameescape(path))
  else
    vim.cmd.tabnew()
    vim.api.nvim_win_set_buf(0, scratch({}, file.path .. " (deleted)", filetype))
  end
  vim.t.superpower_diff = true
  local after = vim.api.nvim_get_current_win()
  vim.cmd("leftabove vsplit")
  vim.api.nvim_win_set_buf(0, scratch(before, file.path .. " (at the last approval)", filetype))
  vim.cmd.diffthis()
  local left = vim.api.nvim_get_current_buf()
  vim.api.nvim_set_current_win(after)
  vim.cmd.diffthis()
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
---@param file superpower.ReviewFile?
function M.edit(root, file)
  if given(root, file) then
    ---@cast root string
    ---@cast file superpower.ReviewFile
    local path = vim.fs.joinpath(root, file.path)
    if vim.uv.fs_stat(path) then
      vim.cmd.tabedit(vim.fn.fnameescape(path))
    else
      require("superpower.notify").info(("%s is not there any more"):format(file.path))
    end
  end
end

return M
