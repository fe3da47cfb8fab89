--- The sub-words of `:Superpower`.
local args = require("superpower.args")
local complete = require("superpower.complete")
local notify = require("superpower.notify")

---@type table<string, superpower.SubCommand>
local M = {}

---@return string? root
local function here()
  local root, err = require("superpower.session").root()
  if not root then
    notify.fault(assert(err))
  end
  return root
end

---@param message string
---@param bang boolean
local function refuse(message, bang)
  if bang then
    return require("superpower.headless").refuse(message)
  end
  notify.error(message)
end

---@param err superpower.Fault?
local function say(err)
  if err then
    notify.fault(err)
  end
end

--- `NAME key=value …`, with the reserved keys taken out.
---@param rest string
---@param bang boolean
---@return string? name, table<string, string>? inputs
local function name_and_inputs(rest, bang)
  local words, err = args.words(rest)
  if not words then
    return refuse(assert(err), bang)
  end
  local name = table.remove(words, 1)
  if not name or name:find("=", 1, true) then
    return refuse("which one? name a superpower before its inputs", bang)
  end
  local inputs, problem = args.pairs(words)
  if not inputs then
    return refuse(assert(problem), bang)
  end
  return name, inputs
end

M.run = {
  desc = "start a superpower",
  usage = "NAME [key=value …] [harness=NAME]",
  bang = true,
  complete = complete.run,
  impl = function(rest, bang)
    if rest == "" and not bang then
      return require("superpower.pick").superpower("Run", function(name)
        require("superpower.verbs").run(name, {}, say)
      end)
    end
    local name, inputs = name_and_inputs(rest, bang)
    if not name or not inputs then
      return
    end
    local harness = inputs.harness
    inputs.harness = nil
    if bang then
      require("superpower.headless").drive("run", "run", {
        name = name,
        inputs = inputs,
        harness = harness,
      })
    else
      require("superpower.verbs").run(name, { inputs = inputs, harness = harness }, say)
    end
  end,
}

M.resume = {
  desc = "go on with a paused run",
  usage = "[NAME|RUN_ID] [key=value …] [answer=old|new|go-on|look-again|adopt|trust]",
  bang = true,
  complete = complete.resume,
  impl = function(rest, bang)
    local words, err = args.words(rest)
    if not words then
      return refuse(assert(err), bang)
    end
    local which ---@type string?
    if words[1] and not words[1]:find("=", 1, true) then
      which = table.remove(words, 1)
    end
    for _, word in ipairs(words) do
      if not word:find("=", 1, true) then
        return refuse(('resume takes one run, not also "%s"'):format(word), bang)
      end
    end
    local inputs, problem = args.pairs(words)
    if not inputs then
      return refuse(assert(problem), bang)
    end
    local answer = inputs.answer
    inputs.answer = nil
    local fields = { answer = answer, inputs = next(inputs) and inputs or nil }
    if bang then
      require("superpower.headless").drive("resume", "resume", vim.tbl_extend("force", fields, { which = which }))
    else
      require("superpower.verbs").resume(which, fields, say)
    end
  end,
}

--- Verbs that take nothing.
for verb, desc in pairs({
  pause = "pause at the next boundary",
  cancel = "end the run, its agent and all that it started",
  skip = "skip the action of a stage that failed, asks, or is done by hand; its own gate still asks",
}) do
  M[verb] = {
    desc = desc,
    bang = true,
    impl = function(rest, bang)
      local answer
      if verb == "skip" then
        answer, rest = args.answer(rest)
      end
      if rest ~= "" then
        return refuse(('%s takes nothing, got "%s"'):format(verb, rest), bang)
      elseif bang then
        require("superpower.headless").drive(verb, verb, { answer = answer })
      else
        require("superpower.verbs")[verb](say)
      end
    end,
  }
end

M.retry = {
  desc = "try the stage again, with a comment or an answer for its agent",
  usage = "[comment]",
  bang = true,
  impl = function(rest, bang)
    local answer, said = args.answer(rest)
    local comment = args.comment(said)
    if bang then
      local fields = { comment = comment ~= "" and comment or nil, answer = answer }
      require("superpower.headless").drive("retry", "retry", fields)
    else
      require("superpower.verbs").retry({ comment = comment }, say)
    end
  end,
}

---@param verb "approve"|"changes"|"reject"
---@param desc string
---@param usage string
local function decision(verb, desc, usage)
  M[verb] = {
    desc = desc,
    usage = usage,
    bang = true,
    complete = verb == "approve" and complete.approve or nil,
    impl = function(rest, bang)
      local answer
      if verb == "approve" then
        answer, rest = args.answer(rest)
      end
      local comment = args.comment(rest)
      if verb == "changes" and comment == "" then
        return refuse("what should change? :Superpower changes COMMENT", bang)
      end
      local fields = { decision = verb, comment = comment ~= "" and comment or nil, answer = answer }
      if bang then
        return require("superpower.headless").drive(verb, "decide", fields)
      end
      local shown = require("superpower.gate").shown()
      if not shown then
        local root = here()
        if root then
          require("superpower.gate").open(root)
        end
        return
      end
      require("superpower.gate").decide(vim.tbl_extend("force", fields, shown), say)
    end,
  }
end
decision("approve", "approve the gate that was last shown", "[comment]")
decision("changes", "request changes at the gate that was last shown", "comment")
decision("reject", "reject the run at the gate that was last shown", "[comment]")

M.gate = {
  desc = "open what waits: a gate, a permission, a question, a stage done by hand",
  bare = true,
  impl = function()
    if require("superpower.permission").open() then
      return
    end
    local root = here()
    if root and not require("superpower.manual").open(root) then
      require("superpower.gate").open(root)
    end
  end,
}

M.progress = {
  desc = "show or hide the progress window",
  bare = true,
  impl = function()
    local progress = require("superpower.ui.progress")
    if progress.is_open() then
      return progress.close()
    end
    local root = here()
    if root and require("superpower.session").status(root) then
      progress.open(root)
    elseif root then
      notify.info("no run to show in this project")
    end
  end,
}

M.log = {
  desc = "the run's log",
  bare = true,
  impl = function()
    local root = here()
    if root then
      require("superpower.ui.log").open(root)
    end
  end,
}

require("superpower.views").add(M)

return M
