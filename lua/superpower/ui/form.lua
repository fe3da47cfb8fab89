--- All inputs of a superpower in one window, one per line. Enums and bools change by a key, text is edited with
--- `vim.ui.input`, and long text in a buffer. Problems are shown on their line.
local text = require("superpower.base.text")
local actions = require("superpower.editor.actions")
local comment = require("superpower.ui.comment")
local float = require("superpower.ui.float")
local frame = require("superpower.ui.frame")
local keys = require("superpower.ui.keys")

local M = {}

---@class superpower.Form
---@field name string
---@field inputs superpower.Input[]
---@field values table<string, any>
---@field checked boolean problems are shown after the first attempt to start

---@param input superpower.Input
---@return string[]?
function M.choices(input)
  if input.type == "bool" then
    return { "true", "false" }
  end
  return input.type == "enum" and input.enum or nil
end

---@param form superpower.Form
---@param input superpower.Input
---@return string shown, boolean given
local function value_of(form, input)
  local value = form.values[input.name]
  if value ~= nil and value ~= "" then
    return tostring(value), true
  end
  return input.default ~= nil and tostring(input.default) or "", false
end

--- Returns what is wrong with an input's value, in a word or two.
---@param form superpower.Form
---@param input superpower.Input
---@return string?
function M.problem(form, input)
  local value = value_of(form, input)
  if value == "" then
    return input.required and "required" or nil
  end
  local choices = M.choices(input)
  if choices and not vim.tbl_contains(choices, value) then
    return "one of " .. table.concat(choices, ", ")
  end
end

---@param form superpower.Form
---@param width integer
---@return superpower.Line[]
function M.lines(form, width)
  local names = 8
  for _, input in ipairs(form.inputs) do
    names = math.max(names, text.width(input.name) + 2)
  end
  names = math.min(names, math.floor(width / 2))
  local out = {}
  for _, input in ipairs(form.inputs) do
    local value, given = value_of(form, input)
    local right, group = "", "SuperpowerDim"
    local problem = M.problem(form, input)
    local choices = M.choices(input)
    if problem and (form.checked or problem ~= "required") then
      right, group = problem, "SuperpowerFailed"
    elseif choices then
      local others = vim.tbl_filter(function(choice)
        return choice ~= value
      end, choices)
      right = ("(%s)"):format(table.concat(others, ", "))
    elseif value == "" then
      right = text.line(input.description or "")
    end
    local cells = width - names - 2
    local body = text.cut(
      text.line(value),
      math.max(4, right ~= "" and cells - math.min(text.width(right), cells / 2) - 2 or cells)
    )
    local rest = cells - text.width(body) - 2
    table.insert(out, {
      { " " .. text.fit(input.name .. (input.required and " *" or ""), names), "SuperpowerLabel" },
      { " " },
      { body, given and "SuperpowerHeading" or "SuperpowerDim" },
      { body ~= "" and "  " or "" },
      { text.cut(right, math.max(0, body ~= "" and rest or rest + 2)), group },
    })
  end
  return out
end

--- Describes an input, for the lines below the form.
---@param input superpower.Input?
---@param width integer
---@return string[]
function M.about(input, width)
  if not input then
    return {}
  end
  local words = text.line(input.description or "")
  local kinds = { string = "text", bool = "yes or no", enum = "one of " .. table.concat(input.enum or {}, ", ") }
  local kind = ("%s%s"):format(kinds[input.type] or input.type, input.required and ", required" or "")
  return vim.list_slice(text.wrap(words ~= "" and ("%s (%s)"):format(words, kind) or kind, width), 1, 3)
end

---@param name string
---@param inputs superpower.Input[]
---@param given table<string, any>
---@param done fun(values: table<string, any>?)
function M.open(name, inputs, given, done)
  local form = { name = name, inputs = inputs, values = vim.deepcopy(given), checked = false }
  local before = vim.api.nvim_get_current_win()
  local width, about = float.centre(float.wide(74), 1).width, 1
  for _, input in ipairs(inputs) do
    about = math.max(about, #M.about(input, width - 2))
  end
  local place = float.centre(width, #inputs + 1 + about)
  local window = float.open({
    filetype = "superpower-inputs",
    width = place.width,
    height = place.height,
    row = place.row,
    col = place.col,
    enter = true,
    zindex = 60,
  })
  vim.api.nvim_set_option_value("cursorline", true, { win = window.win, scope = "local" })
  local finished = false

  local function paint()
    if not float.valid(window) then
      return
    end
    local lines = M.lines(form, place.width)
    local here = form.inputs[vim.api.nvim_win_get_cursor(window.win)[1]]
    table.insert(lines, { { "" } })
    for _, line in ipairs(M.about(here, place.width - 2)) do
      table.insert(lines, { { " " .. line, "SuperpowerNote" } })
    end
    float.paint(window.buf, lines)
  end
  local function finish(values)
    if finished then
      return
    end
    finished = true
    float.close(window)
    if vim.api.nvim_win_is_valid(before) then
      actions.enter(before)
    end
    done(values)
  end
  local function here()
    return form.inputs[vim.api.nvim_win_get_cursor(window.win)[1]]
  end
  local function set(input, value)
    form.values[input.name] = value ~= "" and value or nil
    paint()
  end
  local function cycle(step)
    local input = here()
    local choices = input and M.choices(input)
    if not input or not choices or #choices == 0 then
      return
    end
    local value, at = value_of(form, input), 0
    for index, choice in ipairs(choices) do
      at = choice == value and index or at
    end
    set(input, choices[(at + step - 1) % #choices + 1])
  end
  local function long(input)
    comment.open({
      title = input.name,
      key = ("input/%s/%s"):format(name, input.name),
      text = (value_of(form, input)),
      hints = { (input.description or input.name) .. ". :w saves, :q goes back." },
      send = function(said, ok)
        set(input, said)
        ok()
      end,
      back = function() end,
    })
  end
  --- Moves to the next line that has a problem.
  local function to_next_problem(from)
    for offset = 0, #form.inputs - 1 do
      local row = (from + offset) % #form.inputs + 1
      if M.problem(form, form.inputs[row]) then
        vim.api.nvim_win_set_cursor(window.win, { row, 0 })
        return
      end
    end
  end
  local function edit()
    local input = here()
    if not input then
      return
    elseif M.choices(input) then
      cycle(1)
    elseif value_of(form, input):find("\n") then
      long(input)
    else
      vim.ui.input({ prompt = input.name .. ": ", default = (value_of(form, input)) }, function(value)
        vim.cmd("redraw | echo ''") -- otherwise the prompt stays in the command line
        if value ~= nil and not finished then
          set(input, value)
          to_next_problem(vim.api.nvim_win_get_cursor(window.win)[1])
        end
      end)
    end
  end
  local function start()
    form.checked = true
    for row, input in ipairs(form.inputs) do
      if M.problem(form, input) then
        paint()
        vim.api.nvim_win_set_cursor(window.win, { row, 0 })
        return
      end
    end
    finish(form.values)
  end

  keys.set(window.buf, "Inputs", {
    { lhs = "<CR>", desc = "edit, or take the next choice", fn = edit },
    { lhs = "i", desc = "edit, or take the next choice", fn = edit },
    {
      lhs = "<Tab>",
      desc = "next choice",
      fn = function()
        cycle(1)
      end,
    },
    {
      lhs = "<S-Tab>",
      desc = "previous choice",
      fn = function()
        cycle(-1)
      end,
    },
    {
      lhs = "e",
      desc = "edit a long text in a buffer",
      fn = function()
        local input = here()
        if input and not M.choices(input) then
          long(input)
        end
      end,
    },
    { lhs = "<C-s>", desc = "start", fn = start },
    {
      lhs = "q",
      desc = "cancel: nothing starts",
      fn = function()
        finish(nil)
      end,
    },
  })
  frame.set(
    window,
    frame.edge({ { " " .. text.line(name) .. " needs ", "SuperpowerTitle" } }, {}, place.width),
    frame.footer(window, {
      { lhs = "<CR>", label = "edit" },
      { lhs = "<C-s>", label = "start" },
      { lhs = "q", label = "cancel" },
      { lhs = "e", label = "long text" },
    }, { { " * required ", "SuperpowerFooter" }, { " g? ", "SuperpowerKey" } })
  )
  vim.api.nvim_create_autocmd("WinClosed", {
    pattern = tostring(window.win),
    once = true,
    callback = function()
      finish(nil)
    end,
  })
  -- The lines below the inputs are only to be read: the cursor stays above them.
  vim.api.nvim_create_autocmd("CursorMoved", {
    buffer = window.buf,
    callback = function()
      if vim.api.nvim_win_get_cursor(window.win)[1] > #form.inputs then
        vim.api.nvim_win_set_cursor(window.win, { #form.inputs, 0 })
      end
      paint()
    end,
  })
  paint()
  to_next_problem(#form.inputs)
  paint()
end

return M
