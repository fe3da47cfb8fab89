--- Renders an agent's report as lines of chunks: headings, lists, code and emphasis, wrapped to a width. Pure.
local text = require("superpower.base.text")

local M = {}

---@class superpower.Fence a block of code
---@field lang string
---@field first integer row from 1
---@field lines string[]
---@field indent integer columns before each line

---@class superpower.Markdown
---@field lines superpower.Line[]
---@field fences superpower.Fence[]

--- Inline markup, tried in this order at each position.
---@type { [1]: string, [2]: string }[]
local inline = {
  { "^``(.-)``", "@markup.raw" },
  { "^`([^`]+)`", "@markup.raw" },
  { "^%*%*([^%s*].-)%*%*", "@markup.strong" },
  { "^__([^%s_].-)__", "@markup.strong" },
  { "^%*([^%s*][^*]-)%*", "@markup.italic" },
}

---@param words string
---@param group string?
---@return superpower.Line
function M.inline(words, group)
  local line, plain, at = {}, "", 1
  local function flush()
    if plain ~= "" then
      table.insert(line, { plain, group })
      plain = ""
    end
  end
  while at <= #words do
    local found = false
    for _, mark in ipairs(inline) do
      local _, last, inner = words:find(mark[1], at)
      if last and inner ~= "" then
        flush()
        table.insert(line, { inner, mark[2] })
        at, found = last + 1, true
        break
      end
    end
    if not found then
      local next_mark = words:find("[`*_]", at + 1) or #words + 1
      plain = plain .. words:sub(at, next_mark - 1)
      at = next_mark
    end
  end
  flush()
  return line
end

--- Wraps chunks at spaces and indents the lines after the first.
---@param line superpower.Line
---@param width integer
---@param hang integer
---@return superpower.Line[]
function M.wrap(line, width, hang)
  local out, current, used = {}, {}, 0
  local function push(piece, group)
    local last = current[#current]
    if last and last[2] == group then
      last[1] = last[1] .. piece
    else
      table.insert(current, { piece, group })
    end
    used = used + text.width(piece)
  end
  local function break_line()
    table.insert(out, current)
    current, used = {}, 0
    if hang > 0 then
      push((" "):rep(hang), nil)
    end
  end
  for _, chunk in ipairs(line) do
    for space, word in chunk[1]:gmatch("(%s*)(%S*)") do
      if used + text.width(space) + text.width(word) > width and used > hang then
        break_line()
        space = ""
      end
      while text.width(word) > width - used and width - used > 4 do
        local head = text.cut(word, width - used + 1):gsub("…$", "")
        if head == "" then
          break
        end
        push(space .. head, chunk[2])
        break_line()
        space, word = "", word:sub(#head + 1)
      end
      if space .. word ~= "" then
        push(space .. word, chunk[2])
      end
    end
  end
  table.insert(out, current)
  return out
end

---@param source string
---@param width integer
---@return superpower.Markdown
function M.render(source, width)
  local out = { lines = {}, fences = {} } ---@type superpower.Markdown
  local fence ---@type superpower.Fence?
  local close ---@type string?
  local function add(line, hang)
    vim.list_extend(out.lines, M.wrap(line, width, hang or 0))
  end
  for _, line in ipairs(text.lines(source)) do
    local ticks, lang = line:match("^%s*(```+)%s*([%w_+-]*)%s*$")
    local level, heading = line:match("^(#+)%s+(.-)%s*#*$")
    local indent, bullet, item = line:match("^(%s*)([-*+])%s+(.+)$")
    local before, number, numbered = line:match("^(%s*)(%d+[.)])%s+(.+)$")
    local quote = line:match("^>%s?(.*)$")
    if fence and line:match("^%s*```+%s*$") and close and #line:match("`+") >= #close then
      fence = nil
    elseif fence then
      table.insert(fence.lines, line)
      table.insert(out.lines, { { "  " .. text.cut(line, width - 2), "@markup.raw.block" } })
    elseif ticks then
      fence = { lang = lang, first = #out.lines + 1, lines = {}, indent = 2 }
      close = ticks
      table.insert(out.fences, fence)
    elseif level then
      add(M.inline(heading, "SuperpowerHeading"))
    elseif line:match("^%s*%-%-%-+%s*$") or line:match("^%s*%*%*%*+%s*$") then
      add({ { ("─"):rep(math.min(width, 40)), "SuperpowerDim" } })
    elseif bullet then
      add(vim.list_extend({ { indent }, { "• ", "SuperpowerKey" } }, M.inline(item)), #indent + 2)
    elseif number then
      local mark = number .. " "
      add(vim.list_extend({ { before }, { mark, "SuperpowerKey" } }, M.inline(numbered)), #before + #mark)
    elseif quote then
      add(vim.list_extend({ { "│ ", "SuperpowerDim" } }, M.inline(quote, "SuperpowerText")), 2)
    else
      add(M.inline(line))
    end
  end
  return out
end

--- Highlights blocks of code with treesitter, if there is a parser for their language.
---@param buf integer
---@param fences superpower.Fence[]
---@param offset integer rows before the report
function M.colour(buf, fences, offset)
  local namespace = vim.api.nvim_create_namespace("superpower-code")
  for _, fence in ipairs(fences) do
    local lang = fence.lang ~= "" and vim.treesitter.language.get_lang(fence.lang) or nil
    if lang and pcall(vim.treesitter.language.add, lang) then
      pcall(function()
        local source = table.concat(fence.lines, "\n")
        local query = vim.treesitter.query.get(lang, "highlights")
        local tree = vim.treesitter.get_string_parser(source, lang):parse()[1]
        for id, node in query:iter_captures(tree:root(), source) do
          local row, col, end_row, end_col = node:range()
          local base = offset + fence.first - 1
          vim.api.nvim_buf_set_extmark(buf, namespace, base + row, col + fence.indent, {
            end_row = base + end_row,
            end_col = end_col + fence.indent,
            hl_group = ("@%s.%s"):format(query.captures[id], lang),
            priority = 210,
            strict = false,
          })
        end
      end)
    end
  end
end

return M
