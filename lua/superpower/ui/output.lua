--- A stage's output or prompt in a scratch buffer: never the file itself, so that nothing in an agent's text is taken for
--- a modeline, and control characters are visible.
local M = {}

local most_bytes = 4 * 1024 * 1024

---@param path string
---@return string[]? lines, string? err
local function read(path)
  local file, err = io.open(path, "rb")
  if not file then
    return nil, err
  end
  local size = file:seek("end")
  local cut = size > most_bytes
  file:seek("set", cut and size - most_bytes or 0)
  local content = file:read("*a") or ""
  file:close()
  local lines = require("superpower.ui.text").lines(content)
  if cut then
    lines[1] = ("… the last %d MiB of %d"):format(most_bytes / 1048576, math.floor(size / 1048576))
  end
  return lines
end

---@param name string
---@param filetype string
---@return integer buf in a new window, or the window that already shows it
local function scratch(name, filetype)
  local buf = vim.fn.bufnr("^" .. vim.fn.escape(name, "[]*?{}\\") .. "$")
  if buf ~= -1 and vim.fn.bufwinid(buf) ~= -1 then
    vim.api.nvim_set_current_win(vim.fn.bufwinid(buf))
    return buf
  end
  if buf ~= -1 then
    pcall(vim.api.nvim_buf_delete, buf, { force = true })
  end
  vim.cmd("botright new")
  buf = vim.api.nvim_get_current_buf()
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.bo[buf].modeline = false
  vim.api.nvim_buf_set_name(buf, name)
  vim.bo[buf].filetype = filetype
  return buf
end

--- A read-only buffer in a split.
---@param name string
---@param filetype string
---@param lines string[]
---@return integer buf
function M.show(name, filetype, lines)
  local buf = scratch(name, filetype)
  M.fill(buf, lines)
  require("superpower.ui.keys").set(buf, name, {
    {
      lhs = "q",
      desc = "close",
      fn = function()
        pcall(vim.api.nvim_win_close, 0, false)
      end,
    },
  })
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

---@param root string
---@param stage integer
---@param what "output"|"prompt"
function M.open(root, stage, what)
  local value, err = require("superpower.session").call("output", { root = root, stage = stage, what = what })
  if err then
    require("superpower.notify").fault(err)
    return
  end
  local lines, problem = read(value.path)
  if not lines then
    require("superpower.notify").error(("the %s of stage %d cannot be read: %s"):format(what, stage, problem))
    return
  end
  local name = ("superpower://stage-%d/%s"):format(stage, what)
  local buf = M.show(name, what == "prompt" and "markdown" or "superpower-output", lines)
  if what == "output" then
    vim.api.nvim_win_set_cursor(0, { vim.api.nvim_buf_line_count(buf), 0 })
  end
end

return M
