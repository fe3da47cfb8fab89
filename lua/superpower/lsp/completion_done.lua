--- Neovim's completion inserts an item only up to the first blank (0.11) or line break (0.12), so `"{{scope}} ==
--- full"` would be cut. This module inserts the rest when the completion is done.

local M = {}

--- Returns the part of an item that was not inserted.
---@param item table `v:completed_item`
---@return string?
local function rest_of(item)
  local data = vim.tbl_get(item, "user_data", "nvim", "lsp") or {}
  local client = data.client_id and vim.lsp.get_client_by_id(data.client_id)
  local text = vim.tbl_get(data, "completion_item", "textEdit", "newText")
  if client and client.name == "superpower" and text and vim.startswith(text, item.word) then
    return text:sub(#item.word + 1)
  end
end

--- Inserts the rest at the cursor, which must be where the insertion ended.
---@param item table `v:completed_item`
---@param reason? string why the completion is done, if Neovim reports it
function M.complete(item, reason)
  local rest = rest_of(item)
  -- A user who types on has not accepted a blank or further lines; but half of a value is never intended.
  if not rest or rest == "" or (reason ~= "accept" and not rest:find("^[^%S\n]*%S")) then
    return
  end
  local row, col = unpack(vim.api.nvim_win_get_cursor(0))
  local before = vim.api.nvim_get_current_line():sub(1, col)
  if not vim.endswith(before, item.word) then
    return
  end
  local lines = vim.split(rest, "\n", { plain = true })
  vim.api.nvim_buf_set_text(0, row - 1, col, row - 1, col, lines)
  local last = #lines
  vim.api.nvim_win_set_cursor(0, { row + last - 1, last == 1 and col + #rest or #lines[last] })
end

return M
