--- Asks for missing inputs before anything starts: in one form, or one at a time.
local texts = require("superpower.base.text")
local config = require("superpower.config")
local session = require("superpower.session")
local form = require("superpower.ui.form")

local M = {}

--- Asks for one input at a time, with `vim.ui`.
---@param inputs superpower.Input[]
---@param given table<string, any>
---@param done fun(values: table<string, any>?)
function M.by_ui(inputs, given, done)
  local values = vim.deepcopy(given)
  local function ask(index)
    local input = inputs[index]
    if not input then
      done(values)
      return
    end
    local description = input.description and input.description ~= "" and ": " .. input.description or ""
    local prompt = input.name .. texts.line(description)
    if input.type == "bool" or input.type == "enum" then
      local choices = input.type == "bool" and { "true", "false" } or input.enum or {}
      vim.ui.select(choices, { prompt = prompt, kind = "superpower" }, function(choice)
        if choice == nil then
          done(nil)
        else
          values[input.name] = choice
          ask(index + 1)
        end
      end)
    else
      vim.ui.input({ prompt = prompt .. " " }, function(text)
        if text == nil or text == "" then
          done(nil)
        else
          values[input.name] = text
          ask(index + 1)
        end
      end)
    end
  end
  ask(1)
end

---@param root string
---@param name string
---@param missing superpower.Input[]
---@param given table<string, any>
---@param done superpower.Answered
function M.ask(root, name, missing, given, done)
  local function answer(values)
    done(values and { inputs = values } or nil)
  end
  if config.get().inputs ~= "form" then
    return M.by_ui(missing, given, answer)
  end
  session.ask("inputs", { root = root, name = name }, function(all)
    form.open(name, all or missing, given, answer)
  end)
end

return M
