--- A small Markdown buffer for a comment: `:w` sends, `:q` goes back and keeps the draft in the hidden buffer.
local notify = require("superpower.notify")
local acwrite = require("superpower.ui.acwrite")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")

local M = {}

---@class superpower.CommentOpts
---@field title string
---@field key string identifies the subject, so that a draft is found again
---@field hints string[] shown as a comment, not sent
---@field text? string the initial text, if there is no draft
---@field send fun(comment: string, done: fun(err: string?)) `done()` closes, `done(err)` shows an error
---@field back fun() closed without sending
---@field height? integer

local max_wait = 1000 -- ms to wait for the answer inside `:w`; a later answer is handled when it comes
local drafts = {} ---@type table<string, integer> buffers

---@param buf integer
---@return string
local function comment_of(buf)
  local all = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, false), "\n"):gsub("<!%-%-.-%-%->", "")
  return vim.trim(all)
end

--- Returns the unsent draft, and deletes its buffer.
---@param key string
---@return string
local function draft_of(key)
  local buf = drafts[key]
  drafts[key] = nil
  if not buf or not vim.api.nvim_buf_is_loaded(buf) then
    return ""
  end
  local draft = comment_of(buf)
  acwrite.wipe(buf)
  return draft
end

--- Deletes the draft of a subject that is decided.
---@param key string
function M.drop(key)
  local buf = drafts[key]
  if buf and #vim.fn.win_findbuf(buf) == 0 then
    drafts[key] = nil
    acwrite.wipe(buf)
  end
end

---@param opts superpower.CommentOpts
---@return superpower.Float
function M.open(opts)
  local draft = draft_of(opts.key)
  draft = draft ~= "" and draft or (opts.text or "")
  local lines = vim.split(draft, "\n", { plain = true })
  local first = #lines
  table.insert(lines, "")
  for index, hint in ipairs(opts.hints) do
    hint = hint:gsub("%-%->", "-- >") -- an agent's text must not end the comment around it
    table.insert(lines, (index == 1 and "<!-- " or "") .. hint)
  end
  table.insert(lines, "-->")

  local screen = float.screen()
  local width = float.wide(76)
  local height = math.min(opts.height or 10, screen.height - 2)
  local sent = false
  local window ---@type superpower.Float
  local buf = acwrite.buffer({
    name = "comment",
    lines = lines,
    listed = false,
    modified = draft ~= "",
    write = function(buf)
      local answered, writing = sent, true
      local function finish() -- later: inside a `:wq` it would make the command close another window
        vim.schedule(function()
          vim.cmd.stopinsert()
          float.close(window)
          acwrite.wipe(buf)
        end)
      end
      vim.bo[buf].modified = not sent
      if sent then
        return
      end
      opts.send(comment_of(buf), function(err)
        answered = true
        if err then
          vim.bo[buf].modified = comment_of(buf) ~= ""
          notify.warn(err)
          return
        end
        sent = true
        vim.bo[buf].modified = false
        if not writing then
          finish()
        end
      end)
      -- `:wqa` leaves the editor next, unless the buffer is still modified. It stays modified until the engine has the
      -- comment.
      vim.wait(max_wait, function()
        return answered
      end, 5)
      writing = false
      if sent then
        finish()
      end
    end,
  })
  drafts[opts.key] = buf
  window = float.open({
    filetype = "markdown",
    width = width,
    height = height,
    row = screen.top + screen.height - height - 2,
    col = math.floor((screen.width - width - 2) / 2),
    enter = true,
    zindex = 70,
    wrap = true,
  }, buf)
  vim.api.nvim_set_option_value("conceallevel", 0, { win = window.win, scope = "local" })
  frame.set(window, frame.edge({ { " " .. opts.title .. " ", "SuperpowerTitle" } }, {}, width), {
    { " :w", "SuperpowerKey" },
    { " send  ", "SuperpowerFooter" },
    { ":q", "SuperpowerKey" },
    { " back ", "SuperpowerFooter" },
  })
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(window.win),
    once = true,
    callback = function()
      vim.schedule(function()
        if sent or vim.v.exiting ~= vim.NIL then
          return
        elseif not vim.api.nvim_buf_is_loaded(buf) or comment_of(buf) == "" then
          acwrite.wipe(buf)
        end
        opts.back()
      end)
    end,
  })
  vim.api.nvim_win_set_cursor(window.win, { first, #lines[first] })
  if draft == "" then
    vim.cmd.startinsert()
  end
  return window
end

return M
