--- Buffers and files: what is unsaved before a run, and what an agent has changed under a buffer.
local path_check = require("superpower.base.path_check")
local notify = require("superpower.notify")

local M = {}

local told = {} ---@type table<string, string> by root: the files that were last said to be unsaved

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
  if #bufs == 0 or notify.headless() then
    return go(true)
  end
  local names = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  end, bufs)
  told[root] = table.concat(names, ", ")
  vim.ui.select({ "Write and go on", "Go on without writing", "Cancel" }, {
    prompt = ("Unsaved in this project: %s"):format(table.concat(names, ", ")),
    kind = "superpower",
  }, function(_, index)
    if index == 1 then
      local err = write(bufs)
      if err then
        notify.error("not written: " .. err)
      end
      return go(err == nil)
    end
    go(index == 2)
  end)
end

--- Says, while a run goes on, which files of the project have unsaved changes: an agent does not see them.
---@param root string
function M.say_unsaved(root)
  if notify.headless() then
    return
  end
  local names = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  end, M.unsaved(root))
  local all = table.concat(names, ", ")
  if all ~= told[root] and all ~= "" then
    notify.news("the agent does not see unsaved changes: " .. all, "info", true)
  end
  told[root] = all
end

local said = {} ---@type table<integer, string> modified buffers, and the time of their file when it was said

---@param path string
---@return string?
local function mtime_of(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type == "file" and ("%d.%d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or nil
end

--- Reloads the unmodified ones, and says so of the modified ones, once for each time that their file changes.
---@param bufs integer[]
local function renew(bufs)
  local kept = {}
  for _, buf in ipairs(bufs) do
    local name = vim.api.nvim_buf_get_name(buf)
    if not vim.bo[buf].modified then
      said[buf] = nil
      if not path_check.problem(name) then
        M.reload(buf)
      end
    else
      local mtime = mtime_of(name) or ""
      if said[buf] ~= mtime then
        said[buf] = mtime
        table.insert(kept, vim.fn.fnamemodify(name, ":~:."))
      end
    end
  end
  if #kept > 0 then
    notify.news(
      ("changed on disk by an agent, with unsaved changes here: %s"):format(table.concat(kept, ", ")),
      "warn",
      true
    )
  end
end

---@return { buf: integer, name: string, real: string }[]
local function files()
  local out = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and name ~= "" then
      table.insert(out, { buf = buf, name = name, real = vim.uv.fs_realpath(name) or name })
    end
  end
  return out
end

--- An agent has said which files it changed.
---@param root string
---@param paths string[]
function M.changed(root, paths)
  local wanted = {} ---@type table<string, true>
  for _, path in ipairs(paths) do
    wanted[vim.startswith(path, "/") and path or vim.fs.joinpath(root, path)] = true
  end
  local bufs = {}
  for _, file in ipairs(files()) do
    if wanted[file.real] or wanted[file.name] then
      table.insert(bufs, file.buf)
    end
  end
  renew(bufs)
end

local seen = {} ---@type table<integer, string> buffers, and the time of their file when a stage began

--- A stage begins: how the files of the project's buffers are.
---@param root string
function M.before(root)
  local before = seen
  seen = {}
  for _, file in ipairs(files()) do -- those of another project stay as they are
    seen[file.buf] = inside(file.real, root) and mtime_of(file.real) or before[file.buf]
  end
  vim.api.nvim_create_autocmd({ "BufWritePost", "BufReadPost" }, { -- the user's own
    group = vim.api.nvim_create_augroup("superpower-buffers", { clear = true }),
    callback = function(args)
      if seen[args.buf] then
        seen[args.buf] = mtime_of(vim.api.nvim_buf_get_name(args.buf))
      end
    end,
  })
end

--- A stage is over, or the run waits: not every agent says what it changed, so the files are looked at. One of a modified
--- buffer that was not there to be seen when the stage began is left alone.
---@param root string
function M.look(root)
  if notify.headless() then
    return
  end
  local bufs = {}
  for _, file in ipairs(files()) do
    if inside(file.real, root) then
      local mtime = mtime_of(file.real)
      if mtime and (not vim.bo[file.buf].modified or (seen[file.buf] and seen[file.buf] ~= mtime)) then
        table.insert(bufs, file.buf)
      end
      seen[file.buf] = mtime
    end
  end
  renew(bufs)
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
