--- Reads the text of a buffer for the engine.

local M = {}

---@param buf integer
---@return integer
function M.size(buf)
  return math.max(0, vim.api.nvim_buf_get_offset(buf, vim.api.nvim_buf_line_count(buf)))
end

--- Replaces each byte that is not part of a character by "?", so that no column moves.
---@param text string
---@return string
function M.readable(text)
  return (
    text:gsub("[\128-\255]+", function(run)
      local out, at = {}, 1
      while at <= #run do
        local lead = run:byte(at)
        local length = lead >= 240 and 4 or lead >= 224 and 3 or lead >= 192 and 2 or 1
        local char = run:sub(at, at + length - 1)
        local fine = length > 1 and #char == length and vim.fn.strchars(char) == 1 and vim.fn.char2nr(char) >= 128
        if fine and vim.fn.nr2char(vim.fn.char2nr(char)) == char then
          out[#out + 1], at = char, at + length
        else
          out[#out + 1], at = "?", at + 1
        end
      end
      return table.concat(out)
    end)
  )
end

---@param buf integer
---@return string
function M.of(buf)
  local lines = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  return (#lines == 1 and lines[1] == "") and "" or (table.concat(lines, "\n") .. "\n")
end

return M
