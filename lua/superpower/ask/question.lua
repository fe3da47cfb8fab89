--- A question of a stage to its user: the question, and a buffer for the answer, which goes to the stage's agent.
local errors = require("superpower.base.errors")
local text = require("superpower.base.text")
local notify = require("superpower.notify")
local session = require("superpower.session")
local comment = require("superpower.ui.comment")
local run_text = require("superpower.ui.run_text")
local verbs = require("superpower.verbs")

local M = {}

---@param root string
---@param run superpower.Snapshot one that waits for an answer
local function ask(root, run)
  local stage = run.stages[run.current_stage]
  local who = stage and stage.actor and stage.actor ~= "" and stage.actor or "The agent"
  local hints = {
    "Your answer goes to the agent: :w sends it, :q goes back.",
    "",
    ("%s waits for you:"):format(text.line(who)), -- the "actor" may be a missing harness
    "",
  }
  for _, line in ipairs(text.lines(run.detail or "")) do
    table.insert(hints, "  " .. line)
  end
  comment.open({
    title = ("%s · stage %d/%d asks"):format(text.line(run.superpower), run.current_stage, run.total),
    key = ("%s/answer/%d"):format(run.run_id, run.current_stage),
    hints = hints,
    height = #hints + 6,
    send = function(said, done)
      if said == "" then
        return done("write the answer, then :w; :Superpower resume tries again without an answer")
      end
      verbs.retry({ comment = said, root = root, run_id = run.run_id, how = "key" }, function(err)
        done(err and errors.text(err))
      end)
    end,
    back = function() end,
  })
end

--- Opens the question of a run, if it has one.
---@param root string
---@param run_id string
function M.open(root, run_id)
  session.ask("status", { root = root, run_id = run_id }, function(run, err)
    if err then
      notify.engine_error(err)
    elseif run and run.state == "paused" and run.reason == "needs-human" then
      ask(root, run)
    else
      notify.info("this question no longer waits")
    end
  end)
end

--- Opens the question that waits, or says what the run is doing, because no gate waits.
---@param root string
---@param run superpower.Snapshot?
function M.open_or_report(root, run)
  if run and run_text.waits_for(run) == "answer" then
    return M.open(root, run.run_id)
  end
  local waits = run and run.state == "paused" and (run.summary or "") ~= ""
  local words = waits and ("no gate waits here; %s: %s"):format(run.superpower, run.summary) or "no gate waits here"
  notify.info(text.line(words))
end

--- Continues an unfinished run. A run that asks a question needs an answer first.
---@param root string
---@param run { run_id: string, state: string, reason?: string }
function M.continue(root, run)
  if run.state == "paused" and run.reason == "needs-human" then
    M.open(root, run.run_id)
  else
    verbs.resume(run.run_id, { root = root, how = "key" })
  end
end

return M
