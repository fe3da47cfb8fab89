--- A small Markdown buffer for a comment: `:w` sends, `:q` goes back and keeps the draft.
--- The buffer is never "modified", so that plugins that save by themselves leave it alone.
local float = require("superpower.ui.float")

local M = {}

---@class superpower.CommentOpts
---@field title string
---@field draft? string
---@field hints string[] shown as a comment, not sent
---@field send fun(comment: string, done: fun(err: string?)) `done()` closes, `done(text)` says why not
---@field back fun(draft: string) closed without sending
---@field height? integer

---@param lines string[]
---@return string
local function comment_of(lines)
  local all = table.concat(lines, "\n"):gsub("<!%-%-.-%-%->", "")
  return vim.trim(all)
end

---@param buf integer
---@param leave fun()
local function never_modified(buf, leave)
  local group = vim.api.nvim_create_augroup("superpower-comment-" .. buf, { clear = true })
  local function on(events, callback)
    vim.api.nvim_create_autocmd(events, { group = group, buffer = buf, callback = callback })
  end
  vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      vim.bo[buf].modified = false
    end,
  })
  on("QuitPre", function()
    vim.bo[buf].modified = false
  end)
  -- `:x` writes only what is modified.
  on("CmdlineLeave", function()
    if vim.fn.getcmdtype() == ":" and vim.fn.getcmdline():match("^%s*[xe]x?i?t?!?%s*$") then
      vim.bo[buf].modified = true
    end
  end)
  on("BufWipeout", function()
    vim.api.nvim_del_augroup_by_id(group)
    leave()
  end)
  vim.keymap.set("n", "ZZ", "<Cmd>wq<CR>", { buffer = buf, desc = "Send" })
end

---@param opts superpower.CommentOpts
---@return superpower.Float
function M.open(opts)
  local lines = vim.split(opts.draft or "", "\n", { plain = true })
  local first = #lines
  table.insert(lines, "")
  table.insert(lines, "<!-- " .. (opts.hints[1] or ":w sends, :q goes back."))
  vim.list_extend(lines, vim.list_slice(opts.hints, 2))
  table.insert(lines, "-->")

  local screen = float.screen()
  local width = math.min(76, screen.width - 4)
  local height = math.min(opts.height or 10, screen.height - 2)
  local buf = vim.api.nvim_create_buf(false, false)
  vim.bo[buf].buftype = "acwrite"
  vim.bo[buf].bufhidden = "wipe"
  vim.bo[buf].swapfile = false
  vim.api.nvim_buf_set_name(buf, "superpower://comment/" .. buf)
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modified = false
  vim.bo[buf].filetype = "markdown"
  local window = float.open({
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
  float.frame(window, float.edge({ { " " .. opts.title .. " ", "SuperpowerTitle" } }, {}, width), {
    { " :w", "SuperpowerKey" },
    { " send  ", "SuperpowerFooter" },
    { ":q", "SuperpowerKey" },
    { " back ", "SuperpowerFooter" },
  })
  local sent = false
  never_modified(buf, function()
    if not sent and vim.v.exiting == vim.NIL then
      opts.back(comment_of(vim.api.nvim_buf_get_lines(buf, 0, -1, false)))
    end
  end)
  vim.api.nvim_create_autocmd("BufWriteCmd", {
    buffer = buf,
    callback = function()
      vim.bo[buf].modified = false
      if sent then
        return
      end
      local comment = comment_of(vim.api.nvim_buf_get_lines(buf, 0, -1, false))
      opts.send(comment, function(err)
        if err then
          require("superpower.notify").warn(err)
          return
        end
        sent = true
        vim.schedule(function()
          vim.cmd.stopinsert()
          float.close(window)
        end)
      end)
    end,
  })
  vim.api.nvim_win_set_cursor(window.win, { first, #lines[first] })
  if not opts.draft or opts.draft == "" then
    vim.cmd.startinsert()
  end
  return window
end

return M
