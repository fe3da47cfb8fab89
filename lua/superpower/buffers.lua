--- Buffers and files: what is unsaved before a run, and what an agent has changed under a buffer.
local M = {}

local told = "" ---@type string the files that were last said to be unsaved

---@param path string
---@param root string
---@return boolean
local function inside(path, root)
  return path == root or vim.startswith(path, root .. "/")
end

---@param root string
---@return integer[]
function M.unsaved(root)
  return vim.tbl_filter(function(buf)
    return vim.api.nvim_buf_is_loaded(buf)
      and vim.bo[buf].modified
      and vim.bo[buf].buftype == ""
      and vim.api.nvim_buf_get_name(buf) ~= ""
      and inside(vim.uv.fs_realpath(vim.api.nvim_buf_get_name(buf)) or vim.api.nvim_buf_get_name(buf), root)
  end, vim.api.nvim_list_bufs())
end

---@param bufs integer[]
---@return string? err
local function write(bufs)
  for _, buf in ipairs(bufs) do
    local ok, err = pcall(vim.api.nvim_buf_call, buf, function()
      vim.cmd("silent write")
    end)
    if not ok then
      return ("%s: %s"):format(vim.api.nvim_buf_get_name(buf), err)
    end
  end
end

--- Unsaved changes inside the project are asked about once: write them, go on without, or cancel.
---@param root string
---@param go fun(on: boolean)
function M.ask_unsaved(root, go)
  local bufs = M.unsaved(root)
  if #bufs == 0 or require("superpower.notify").headless() then
    return go(true)
  end
  local names = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  end, bufs)
  told = table.concat(names, ", ")
  vim.ui.select({ "Write and go on", "Go on without writing", "Cancel" }, {
    prompt = ("Unsaved in this project: %s"):format(table.concat(names, ", ")),
    kind = "superpower",
  }, function(_, index)
    if index == 1 then
      local err = write(bufs)
      if err then
        require("superpower.notify").error("not written: " .. err)
      end
      return go(err == nil)
    end
    go(index == 2)
  end)
end

--- Says, while a run goes on, which files of the project have unsaved changes: an agent does not see them.
---@param root string
function M.say_unsaved(root)
  if require("superpower.notify").headless() then
    return
  end
  local names = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  end, M.unsaved(root))
  local all = table.concat(names, ", ")
  if all ~= told and all ~= "" then
    require("superpower.notify").news("the agent does not see unsaved changes: " .. all, "info", true)
  end
  told = all
end

--- Reloads unmodified buffers of files that an agent changed, and says so of modified ones.
---@param root string
---@param paths string[]
function M.changed(root, paths)
  local wanted = {} ---@type table<string, true>
  for _, path in ipairs(paths) do
    wanted[vim.startswith(path, "/") and path or vim.fs.joinpath(root, path)] = true
  end
  local kept = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" then
      local name = vim.api.nvim_buf_get_name(buf)
      local real = name ~= "" and vim.uv.fs_realpath(name) or name
      if wanted[real] or wanted[name] then
        if vim.bo[buf].modified then
          table.insert(kept, vim.fn.fnamemodify(name, ":~:."))
        else
          M.reload(buf)
        end
      end
    end
  end
  if #kept > 0 then
    require("superpower.notify").news(
      ("an agent has changed a file that you have unsaved changes in: %s"):format(table.concat(kept, ", ")),
      "warn",
      true
    )
  end
end

--- Reloads one buffer from its file; the cursor, the folds and the undo history stay.
---@param buf integer
function M.reload(buf)
  local views = {} ---@type table<integer, table>
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      views[win] = vim.fn.winsaveview()
    end)
  end
  vim.api.nvim_buf_call(buf, function()
    vim.cmd("setlocal autoread")
    pcall(vim.cmd, "silent! checktime " .. buf)
    vim.cmd("setlocal autoread<")
  end)
  for win, view in pairs(views) do
    if vim.api.nvim_win_is_valid(win) then
      vim.api.nvim_win_call(win, function()
        vim.fn.winrestview(view)
      end)
    end
  end
end

return M
