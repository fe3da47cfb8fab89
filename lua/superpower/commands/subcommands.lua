--- The sub-commands of `:Superpower`.
local args = require("superpower.base.args")
local lazy = require("superpower.base.lazy")
local view_verbs = require("superpower.commands.views")

local inbox = lazy("superpower.ask.inbox")
local complete = lazy("superpower.commands.complete")
local headless = lazy("superpower.commands.headless")
local pick = lazy("superpower.declaration.pick")
local gate = lazy("superpower.gate")
local notify = lazy("superpower.notify")
local current = lazy("superpower.runs.current")
local verbs = lazy("superpower.verbs")

---@type table<string, superpower.SubCommand>
local M = {}

--- Returns a completion function of `complete.lua`, which is loaded when it is used.
---@param name string
---@return fun(words: string[], lead: string, run_id?: string): string[]
local function completes(name)
  return function(...)
    return complete[name](...)
  end
end

---@param run_id? string
---@return string? root
local function here(run_id)
  local root, err = current.root(run_id)
  if not root then
    notify.engine_error(assert(err))
  end
  return root
end

---@param message string
---@param bang boolean
local function refuse(message, bang)
  if bang then
    return headless.refuse(message)
  end
  notify.error(message)
end

---@param err superpower.Error?
local function report(err)
  if err then
    notify.engine_error(err)
  end
end

--- Parses `NAME key=value …`.
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
    return refuse("name a superpower before its inputs: :Superpower run NAME key=value", bang)
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
  complete = completes("run"),
  impl = function(rest, bang)
    if rest == "" and not bang then
      return pick.superpower("Run", function(name)
        verbs.run(name, {}, report)
      end)
    end
    local name, inputs = name_and_inputs(rest, bang)
    if not name or not inputs then
      return
    end
    local harness = inputs.harness
    inputs.harness = nil
    if bang then
      headless.drive("run", "run", {
        name = name,
        inputs = inputs,
        harness = harness,
      })
    else
      verbs.run(name, { inputs = inputs, harness = harness }, report)
    end
  end,
}

M.resume = {
  desc = "continue a paused run",
  usage = "[run=ID|NAME|RUN_ID] [key=value …] [answer=old|new|go-on|look-again|adopt|trust]",
  bang = true,
  of_run = "unfinished",
  complete = completes("resume"),
  impl = function(rest, bang, run_id)
    local words, err = args.words(rest)
    if not words then
      return refuse(assert(err), bang)
    end
    local which ---@type string?
    if words[1] and not words[1]:find("=", 1, true) then
      which = table.remove(words, 1)
    end
    for _, word in ipairs(run_id and which and { which } or words) do
      if not word:find("=", 1, true) or (which and run_id) then
        return refuse(('resume takes one run, got also "%s"'):format(word), bang)
      end
    end
    local inputs, problem = args.pairs(words)
    if not inputs then
      return refuse(assert(problem), bang)
    end
    local answer = inputs.answer
    inputs.answer = nil
    local fields = { answer = answer, inputs = next(inputs) and inputs or nil, run_id = run_id }
    if bang then
      headless.drive("resume", "resume", vim.tbl_extend("force", fields, { which = which }))
    else
      fields.how = "command"
      verbs.resume(which, fields, report)
    end
  end,
}

--- Verbs that take only their run.
---@type table<string, { [1]: string, [2]: superpower.OfRun }>
local plain = {
  pause = { "pause at the next boundary", "running" },
  cancel = { "end the run, its agent and all that it started", "unfinished" },
  skip = { "skip the action of a stage that failed, asks, or is manual; its own gate still asks", "held" },
}
for verb, about in pairs(plain) do
  M[verb] = {
    desc = about[1],
    usage = "[run=ID]",
    bang = true,
    of_run = about[2],
    impl = function(rest, bang, run_id)
      local answer
      if verb == "skip" then
        answer, rest = args.answer(rest)
      end
      if rest ~= "" then
        return refuse(('%s takes only run=ID, got "%s"'):format(verb, rest), bang)
      elseif bang then
        headless.drive(verb, verb, { answer = answer, run_id = run_id })
      else
        verbs[verb]({ run_id = run_id, how = "command" }, report)
      end
    end,
  }
end

M.retry = {
  desc = "try the stage again, with a comment or an answer for its agent",
  usage = "[run=ID] [comment]",
  bang = true,
  of_run = "held",
  impl = function(rest, bang, run_id)
    local answer, said = args.answer(rest)
    local comment = args.comment(said)
    if bang then
      local fields = { comment = comment ~= "" and comment or nil, answer = answer, run_id = run_id }
      headless.drive("retry", "retry", fields)
    else
      verbs.retry({ comment = comment, run_id = run_id, how = "command" }, report)
    end
  end,
}

---@param verb "approve"|"changes"|"reject"
---@param desc string
---@param usage string
local function decision(verb, desc, usage)
  M[verb] = {
    desc = desc,
    usage = "[run=ID] " .. usage,
    bang = true,
    of_run = "gate",
    complete = verb == "approve" and completes("approve") or nil,
    impl = function(rest, bang, run_id)
      local answer, review
      review, rest = args.review(rest)
      if verb == "approve" then
        answer, rest = args.answer(rest)
        if not review then
          review, rest = args.review(rest)
        end
      end
      local comment = args.comment(rest)
      if verb == "changes" and comment == "" then
        return refuse("say what should change: :Superpower changes COMMENT", bang)
      end
      local fields = { decision = verb, comment = comment ~= "" and comment or nil, answer = answer }
      fields.review = review
      if bang then
        fields.run_id = run_id
        return headless.drive(verb, "decide", fields)
      end
      local shown = gate.shown()
      if not shown or (run_id and not vim.startswith(shown.run_id, run_id)) then
        local root = here(run_id)
        if root then
          gate.open(root, { run_id = run_id })
        end
        return
      end
      gate.decide(vim.tbl_extend("keep", fields, shown, { how = "command" }), report)
    end,
  }
end
decision("approve", "approve the gate that was last shown", "[comment]")
decision("changes", "request changes at the gate that was last shown", "comment")
decision("reject", "reject the run at the gate that was last shown", "[comment]")

M.gate = {
  desc = "open what waits: a gate, a permission, a question, a manual stage",
  usage = "[run=ID]",
  bare = true,
  of_run = "unfinished",
  impl = function(_, _, run_id)
    inbox.open(run_id)
  end,
}

M.driver = {
  desc = "end the process that drives this project's runs; its run is interrupted",
  usage = "end",
  complete = function(_, lead)
    return vim.startswith("end", lead) and { "end" } or {}
  end,
  impl = function(rest)
    if rest ~= "end" then
      return notify.error("say what to do with the driver: :Superpower driver end; :checkhealth superpower shows it")
    end
    local root = here()
    if root then
      verbs.end_driver(root)
    end
  end,
}

view_verbs.add(M)

return M
