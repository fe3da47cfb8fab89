--- Buffers and their files: unsaved changes before a run, and files that an agent changes on disk.
local path_check = require("superpower.base.path_check")
local notify = require("superpower.notify")

local M = {}

local reported = {} ---@type table<string, string> by root: the unsaved files that were last reported

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

--- Asks once about unsaved changes inside the project: write them, continue without, or cancel.
---@param root string
---@param done fun(continue: boolean)
function M.ask_unsaved(root, done)
  local bufs = M.unsaved(root)
  if #bufs == 0 or notify.headless() then
    return done(true)
  end
  local names = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  end, bufs)
  reported[root] = table.concat(names, ", ")
  vim.ui.select({ "Write and continue", "Continue without writing", "Cancel" }, {
    prompt = ("Unsaved in this project: %s"):format(table.concat(names, ", ")),
    kind = "superpower",
  }, function(_, index)
    if index == 1 then
      local err = write(bufs)
      if err then
        notify.error("could not write " .. err)
      end
      return done(err == nil)
    end
    done(index == 2)
  end)
end

--- Reports which files of the project have unsaved changes during a run, since an agent does not see them.
---@param root string
function M.report_unsaved(root)
  if notify.headless() then
    return
  end
  local names = vim.tbl_map(function(buf)
    return vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":~:.")
  end, M.unsaved(root))
  local all = table.concat(names, ", ")
  if all ~= reported[root] and all ~= "" then
    notify.news("the agent does not see unsaved changes: " .. all, "info", true)
  end
  reported[root] = all
end

local reported_mtime = {} ---@type table<integer, string> modified buffers, and the time of their file when it was reported

---@param path string
---@return string?
local function mtime_of(path)
  local stat = vim.uv.fs_stat(path)
  return stat and stat.type == "file" and ("%d.%d %d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or nil
end

--- Reloads unmodified buffers. Reports modified ones, once for each change of their file.
---@param bufs integer[]
local function refresh(bufs)
  local modified = {}
  for _, buf in ipairs(bufs) do
    local name = vim.api.nvim_buf_get_name(buf)
    if not vim.bo[buf].modified then
      reported_mtime[buf] = nil
      if not path_check.problem(name) then
        M.reload(buf)
      end
    else
      local mtime = mtime_of(name) or ""
      if reported_mtime[buf] ~= mtime then
        reported_mtime[buf] = mtime
        table.insert(modified, vim.fn.fnamemodify(name, ":~:."))
      end
    end
  end
  if #modified > 0 then
    notify.news(
      ("an agent changed files that have unsaved changes here: %s"):format(table.concat(modified, ", ")),
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

--- Handles a list of files that an agent says it changed.
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
  refresh(bufs)
end

local mtimes = {} ---@type table<integer, string> buffers, and the time of their file when a stage began

--- Records the files of the project's buffers when a stage starts.
---@param root string
function M.record(root)
  local before = mtimes
  mtimes = {}
  for _, file in ipairs(files()) do -- buffers of another project keep theirs
    mtimes[file.buf] = inside(file.real, root) and mtime_of(file.real) or before[file.buf]
  end
  vim.api.nvim_create_autocmd({ "BufWritePost", "BufReadPost" }, { -- a change by the user
    group = vim.api.nvim_create_augroup("superpower-buffers", { clear = true }),
    callback = function(args)
      if mtimes[args.buf] then
        mtimes[args.buf] = mtime_of(vim.api.nvim_buf_get_name(args.buf))
      end
    end,
  })
end

--- Checks the files when a stage ends or the run pauses, since not every agent says what it changed. A modified buffer
--- whose file was not recorded when the stage started is left alone.
---@param root string
function M.check(root)
  if notify.headless() then
    return
  end
  local bufs = {}
  for _, file in ipairs(files()) do
    if inside(file.real, root) then
      local mtime = mtime_of(file.real)
      if mtime and (not vim.bo[file.buf].modified or (mtimes[file.buf] and mtimes[file.buf] ~= mtime)) then
        table.insert(bufs, file.buf)
      end
      mtimes[file.buf] = mtime
    end
  end
  refresh(bufs)
end

--- Reloads one buffer from its file. The cursor, the folds and the undo history stay.
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
