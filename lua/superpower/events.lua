--- The engine's events, handed to whoever shows them: snapshots and lines to `runs`, questions to their windows, news to
--- `vim.notify`, and `User` events to the user's own autocommands.
local M = {}

local taps = {} ---@type table<string, fun(event: table)>

--- Sees each event under a name; nil ends it.
---@param name string
---@param fn fun(event: table)?
function M.tap(name, fn)
  taps[name] = fn
end

---@type table<string, string> the engine's event to the `User` event
M.user = {
  ["run-started"] = "SuperpowerRunStarted",
  ["stage-started"] = "SuperpowerStageStarted",
  ["stage-finished"] = "SuperpowerStageFinished",
  ["gate-opened"] = "SuperpowerGateOpened",
  ["gate-decided"] = "SuperpowerGateDecided",
  ["run-paused"] = "SuperpowerRunPaused",
  ["run-finished"] = "SuperpowerRunFinished",
}

---@param event table
local function fire(event)
  local data = vim.deepcopy(event)
  data.type = nil
  require("superpower.theirs").hear(function()
    vim.api.nvim_exec_autocmds("User", { pattern = M.user[event.type], modeline = false, data = data })
  end)
end

--- Answers what the engine has asked. What cannot be sent is answered by why: it would be waited for in vain.
---@param reply { id: any, value: any, error: string? }
local function send(reply)
  local session = require("superpower.session")
  local _, err = session.call("answer", reply)
  if err then
    session.call("answer", { id = reply.id, error = err.message })
  end
end

--- A user's own fact, asked for by the engine.
---@param event { id: integer, name: string, ctx: superpower.FactContext }
local function answer_fact(event)
  local fn = require("superpower.config").get().conditions[event.name]
  local reply = { id = event.id } ---@type table<string, any>
  if not fn then
    reply.error = ('no condition "%s" is registered in vim.g.superpower.conditions'):format(event.name)
  else
    local ok, value, reason = pcall(fn, event.ctx)
    if ok and type(value) == "boolean" then
      reply.value = { value = value, reason = reason ~= nil and tostring(reason) or nil }
    elseif ok then
      -- Not taken for what Lua makes of it: a missing `return` would be false, and the 0 of a Vim function true.
      reply.error = ('the condition "%s" returned %s, not true or false'):format(event.name, vim.inspect(value))
    else
      reply.error = ('the condition "%s" failed: %s'):format(event.name, value)
    end
  end
  send(reply)
end

--- No agent takes more, and the main loop would be held up by it.
local longest_prompt = 4 * 1048576

--- A stage's prompt, which the user's own function replaces.
---@param event { id: string, prompt: string, ctx: superpower.PromptContext }
local function answer_prompt(event)
  local fn = require("superpower.config").get().prompt
  local reply = { id = event.id } ---@type table<string, any>
  if not fn then
    reply.value = { prompt = event.prompt }
  else
    local ok, text = pcall(fn, event.prompt, event.ctx)
    if ok and type(text) == "string" and #text > longest_prompt then
      reply.error = ("it returned %d MiB, and a prompt has at most %d"):format(
        math.ceil(#text / 1048576),
        longest_prompt / 1048576
      )
    elseif ok and type(text) == "string" then
      reply.value = { prompt = text }
    else
      reply.error = ok and ("it returned a %s, not a text"):format(type(text)) or tostring(text)
    end
  end
  send(reply)
end

--- Events that wait for the user.
local calls = { ["gate-opened"] = true, permission = true, manual = true }

---@type table<string, fun(event: table)>
local handlers = {
  log = function(event)
    require("superpower.runs").append(event.root, event.line)
  end,
  snapshot = function(event)
    if event.run then
      local run = event.run
      require("superpower.runs").put(run)
      require("superpower.attention").watch(require("superpower.runs").driving())
      require("superpower.telling").follow(run)
      require("superpower.gate").follow(run)
      require("superpower.news").follow(run)
    end
  end,
  notice = function(event)
    if event.answer or require("superpower.notify").headless() then
      -- What becomes of a verb: also where nobody wants to hear the news. Without a screen the lines are all there is.
      require("superpower.notify").info(event.message)
    else
      require("superpower.notify").news(event.message, event.level or "info")
    end
  end,
  ["gate-opened"] = function(event)
    require("superpower.buffers").look(event.root)
    require("superpower.gate").opened(event)
  end,
  ["gate-decided"] = function(event)
    require("superpower.gate").decided(event)
  end,
  ["run-paused"] = function(event)
    require("superpower.buffers").look(event.root)
    require("superpower.manual").stopped(event)
    require("superpower.permission").stopped(event)
    if event.reason ~= "gate" then
      require("superpower.news").paused(event)
    end
  end,
  ["run-finished"] = function(event)
    require("superpower.buffers").look(event.root)
    require("superpower.manual").stopped(event)
    require("superpower.permission").stopped(event)
    require("superpower.news").finished(event)
  end,
  ["ask-fact"] = answer_fact,
  ["ask-prompt"] = answer_prompt,
  permission = function(event)
    require("superpower.permission").asked(event)
  end,
  ["permission-gone"] = function(event)
    require("superpower.permission").gone(event)
  end,
  manual = function(event)
    require("superpower.manual").asked(event)
  end,
  ["manual-gone"] = function(event)
    require("superpower.manual").gone(event)
  end,
  ["stage-started"] = function(event)
    require("superpower.buffers").say_unsaved(event.root)
    require("superpower.buffers").before(event.root)
  end,
  ["stage-finished"] = function(event)
    require("superpower.buffers").look(event.root)
  end,
  ["files-changed"] = function(event)
    require("superpower.buffers").changed(event.root, event.paths or {})
  end,
  panic = function(event)
    require("superpower.notify").error(
      ("the engine stumbled: %s (log: %s)"):format(event.message or "?", event.log or "?")
    )
  end,
}

---@param engine { on: fun(type: string, fn: fun(event: table)) }
function M.listen(engine)
  require("superpower.highlights").setup()
  require("superpower.statusline").listen()
  require("superpower.attention").listen()
  -- A server whose user interface was detached went on without a window; whoever comes is shown what waits.
  vim.api.nvim_create_autocmd({ "UIEnter", "UILeave" }, {
    group = vim.api.nvim_create_augroup("superpower-ui", { clear = true }),
    callback = function(args)
      require("superpower.ui.decision").anew()
      if args.event == "UIEnter" then
        vim.schedule(function()
          for _, run in pairs(require("superpower.runs").all()) do
            require("superpower.gate").renew(run)
          end
          require("superpower.permission").renew()
          require("superpower.manual").renew()
        end)
      end
    end,
  })
  engine.on("*", function(event)
    if vim.v.exiting ~= vim.NIL then
      return
    end
    if type(event.superpower) == "string" then
      event.superpower = require("superpower.ui.text").line(event.superpower) -- it may be anybody's
    end
    if calls[event.type] or (event.type == "run-paused" and event.reason ~= "user" and event.reason ~= "gate") then
      require("superpower.attention").call()
    end
    -- Each on its own: who raises keeps nothing from the others.
    local steps = { handlers[event.type] or false, M.user[event.type] and fire or false }
    vim.list_extend(steps, vim.tbl_values(taps))
    local problem ---@type string?
    for _, step in ipairs(steps) do
      local fine, trace = xpcall(step or tostring, debug.traceback, event)
      problem = problem or (not fine and trace) or nil
    end
    if problem then
      error(problem, 0)
    end
  end)
end

return M
