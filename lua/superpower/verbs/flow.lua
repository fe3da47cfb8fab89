--- Asks the questions of a verb. The engine never waits for a person: where it needs an answer it refuses, and says
--- what it needs. This module asks the user and calls the operation again with the answer. Giving up a question starts
--- nothing.
local texts = require("superpower.base.text")
local notify = require("superpower.notify")
local session = require("superpower.session")
local info_float = require("superpower.ui.info_float")
local inputs = require("superpower.verbs.inputs")
local trust = require("superpower.verbs.trust")

local M = {}

---@alias superpower.Answered fun(more: table<string, any>?) nil: the user gave up

---@type table<string, fun(err: superpower.Error, fields: table, done: superpower.Answered)>
local questions = {}

questions["missing-inputs"] = function(err, fields, done)
  local data = err.data or {}
  -- First what an adopted run has already, then what was given with the verb.
  local given = vim.tbl_extend("force", {}, fields.inputs or {}, data.given or {})
  inputs.ask(fields.root, fields.name or data.name, data.inputs or {}, given, done)
end

--- The verbs that take inputs. The other verbs report what is missing, and how to give it.
local takes_inputs = { run = true, resume = true }

questions["untrusted"] = function(err, fields, done)
  trust.ask(fields.root, fields.name, err.data or {}, done)
end

-- A foreign run: the same sheet, with the claims of its files at the top.
questions["foreign-run"] = questions["untrusted"]

---@param lines any
---@param prompt string
---@param choices { text: string, answer: string? }[]
---@param done superpower.Answered
local function choose(lines, prompt, choices, done)
  local shown = {}
  for _, line in ipairs(type(lines) == "table" and lines or {}) do
    local text = type(line) == "table" and (line.path or line.text or vim.inspect(line)) or tostring(line)
    table.insert(shown, "  " .. texts.line(text))
  end
  local sheet = #shown > 0 and info_float.open(prompt, shown) or nil
  vim.ui.select(choices, {
    prompt = prompt,
    kind = "superpower",
    format_item = function(item)
      return item.text
    end,
  }, function(choice)
    if sheet then
      sheet.close()
    end
    done(choice and choice.answer and { answer = choice.answer } or nil)
  end)
end

questions["declaration-changed"] = function(err, _, done)
  choose(err.data and err.data.differences, "The declaration has changed since this run was paused", {
    { text = "Continue with the old one", answer = "old" },
    { text = "Continue with the new one", answer = "new" },
    { text = "Not now" },
  }, done)
end

questions["declaration-unusable"] = function(err, _, done)
  choose(err.data and err.data.differences, "The declaration has changed, and this run cannot use the new one", {
    { text = "Continue with the old one", answer = "old" },
    { text = "Not now" },
  }, done)
end

questions["files-changed"] = function(err, _, done)
  choose(err.data and err.data.files, "Files under review have changed since the gate was decided", {
    { text = "Continue", answer = "go-on" },
    { text = "Look again", answer = "look-again" },
    { text = "Not now" },
  }, done)
end

questions["changed-again"] = function(err, _, done)
  local last = err.data and err.data.last
  local prompt = last and "Files have changed again since they were shown, and no later gate is sure to list them"
    or "Files have changed again since they were shown; the next gate lists them"
  choose(err.data and err.data.files, prompt, {
    { text = "Approve what was shown", answer = "go-on" },
    { text = "Not now" },
  }, done)
end

questions["damaged-journal"] = function(err, _, done)
  choose(err.data and err.data.differences, "The journal of this run has lost records", {
    { text = "Continue without the lost records", answer = "repair" },
    { text = "Not now" },
  }, done)
end

---@param op string
---@param fields table<string, any>
---@param callback superpower.Callback
---@param rounds? integer
function M.call(op, fields, callback, rounds)
  rounds = rounds or 0
  session.ask(op, fields, function(value, err)
    local question = err and questions[err.code]
    if err and err.code == "missing-inputs" and not takes_inputs[op] then
      question = nil
    end
    if not err or not question or rounds > 5 or notify.headless() then
      callback(err, value)
      return
    end
    question(err, fields, function(more)
      if not more then
        callback({ code = "given-up", message = "nothing was started" })
        return
      end
      if more.answer and fields.answer then
        -- A further question: both answers count.
        more.answer = fields.answer .. "," .. more.answer
      end
      M.call(op, vim.tbl_extend("force", fields, more), callback, rounds + 1)
    end)
  end)
end

return M
