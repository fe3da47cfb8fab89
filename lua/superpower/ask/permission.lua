--- Permission requests of agents, one at a time: allow once, allow for this run, deny, deny with a reason. The rules
--- of a gate apply: no focus is taken from a user who types, and no stray key answers.
local permission_page = require("superpower.ask.permission_page")
local text = require("superpower.base.text")
local config = require("superpower.config")
local attention = require("superpower.editor.attention")
local actions = require("superpower.editor.actions")
local notify = require("superpower.notify")
local session = require("superpower.session")
local comment = require("superpower.ui.comment")
local decision = require("superpower.ui.decision")
local float = require("superpower.ui.float")
local page = require("superpower.ui.page")

local M = {}

---@class superpower.Permission
---@field id string
---@field root string
---@field run_id string
---@field stage integer
---@field tool string
---@field title? string
---@field input? any
---@field rule? string the rule by which the agent's tool proposes to allow it, spelled out
---@field until_time? integer when it is denied automatically, in seconds since the epoch

local queue = {} ---@type superpower.Permission[]
local window ---@type superpower.Decision?
local current ---@type superpower.Permission?

local show_next ---@type fun(forced: boolean): boolean

---@param id string
local function drop(id)
  queue = vim.tbl_filter(function(request)
    return request.id ~= id
  end, queue)
end

---@param value table
local function answer(value)
  local request = current
  if not request then
    return
  end
  drop(request.id)
  local _, err = session.call("answer", { id = request.id, value = value })
  if err then
    notify.engine_error(err)
  end
  if window then
    window:close()
  end
  if #queue > 0 then
    vim.schedule(function()
      show_next(true)
    end)
  end
end

local function deny_with_reason()
  local request = current
  comment.open({
    title = "Deny",
    key = "permission/" .. tostring(request and request.id),
    hints = { "Why, and what should the agent do instead? :w denies, :q goes back." },
    height = 6,
    send = function(said, done)
      if current ~= request or not request then
        done("too late: this request no longer waits")
        return
      end
      answer({ answer = "deny", reason = said })
      done()
    end,
    back = function()
      if window and window:is_open() then
        actions.enter(window.float.win)
      end
    end,
  })
end

---@type superpower.DecisionKey
local by_rule = {
  lhs = "R",
  label = "by its rule",
  desc = "allow what the rule says, until this agent ends",
  fn = function()
    answer({ answer = "rule" })
  end,
}

---@type superpower.DecisionKey[]
local keys = {
  {
    lhs = "o",
    label = "once",
    desc = "allow this once",
    fn = function()
      answer({ answer = "once" })
    end,
  },
  {
    lhs = "r",
    label = "for this run",
    desc = "allow exactly this, of this agent, for the rest of the run",
    fn = function()
      answer({ answer = "run" })
    end,
  },
  {
    lhs = "d",
    label = "deny",
    desc = "deny",
    fn = function()
      answer({ answer = "deny", reason = "" })
    end,
  },
  { lhs = "D", label = "deny with reason", desc = "deny with a reason", harmless = true, fn = deny_with_reason },
  {
    lhs = "q",
    label = "later",
    desc = "close; the request stays open until it times out",
    always = true,
    fn = function()
      if window then
        window:close()
      end
    end,
  },
}

---@param request superpower.Permission
---@return superpower.DecisionKey[]
local function keys_for(request)
  local all = vim.list_slice(keys)
  if request.rule and request.rule ~= "" then
    table.insert(all, 3, by_rule)
  end
  return all
end

--- Returns the seconds of a duration such as `5m`.
---@param duration string
---@return integer
local function seconds(duration)
  local number, unit = duration:match("^(%d+)([smh])$")
  return (tonumber(number) or 0) * ({ s = 1, m = 60, h = 3600 })[unit or "s"]
end

show_next = function(forced)
  local request = queue[1]
  if not request or (window and window:is_open() and current == request) then
    if window and window:is_open() and forced then
      actions.enter(window.float.win)
    end
    return request ~= nil
  end
  local width = float.wide(76)
  local lines = permission_page.lines(request, width - 2)
  current = request
  window = decision.open({
    filetype = "superpower-permission",
    title = { { " " .. permission_page.question(request, width - 26) .. " ", "SuperpowerTitle" } },
    right = { { (" permission · stage %d "):format(request.stage or 0), "SuperpowerGate" } },
    help = "Permission",
    width = 76,
    height = page.rows(lines, width - 1) + 1,
    enter = true,
    zindex = 65,
    keys = keys_for(request),
    closed = function()
      current = nil
    end,
  })
  window:paint(lines)
  return true
end

--- Opens the first request that waits, or the first one of a run, or a given one. Returns whether there was one.
---@param which? { run_id?: string, id?: string }
---@return boolean
function M.open(which)
  local asked = which
    and vim.iter(queue):find(function(request)
      return which.id == request.id or which.run_id == request.run_id
    end)
  if which and not asked then
    return false
  elseif asked and not (window and window:is_open()) then
    drop(asked.id)
    table.insert(queue, 1, asked)
  end
  return show_next(true)
end

--- Returns the requests that wait.
---@return superpower.Permission[]
function M.queue()
  return vim.list_slice(queue)
end

---@param request superpower.Permission
local function offer(request)
  local function say()
    notify.call(
      ("the agent of stage %d asks for permission: %s. :Superpower gate opens it"):format(
        request.stage or 0,
        text.line(request.title or request.tool or "?")
      ),
      "info",
      true
    )
  end
  if queue[1] ~= request or decision.any() then
    return say()
  end
  attention.when_quiet(function()
    if queue[1] == request and not (window and window:is_open()) then
      if decision.any() then
        say()
      else
        show_next(false)
      end
    end
  end, say)
end

---@param request superpower.Permission
function M.asked(request)
  request.until_time = os.time() + seconds(config.get().permission_timeout)
  table.insert(queue, request)
  if not notify.headless() then
    offer(request)
  end
end

--- Offers the first request again, because a user interface was attached.
function M.offer_again()
  if queue[1] and not (window and window:is_open()) then
    offer(queue[1])
  end
end

---@param event { id: string }
function M.gone(event)
  local was = current
  drop(event.id)
  if was and was.id == event.id and window and window:is_open() then
    local late = was.until_time and os.time() >= was.until_time
    local words = late and "No answer in time: the request was denied."
      or "This request no longer waits: it was answered elsewhere, or its stage has stopped."
    window:die({ { { words, "SuperpowerGate" } } })
    window.run_id = was.run_id
    current = nil
  end
end

--- Handles a run that has stopped: its requests no longer matter, and the window says why.
---@param event { run_id: string, reason?: string, state?: string }
function M.stopped(event)
  if window and window:is_open() and window.dead and window.run_id == event.run_id then
    local how = event.state or (event.reason == "user" and "paused" or event.reason) or "paused"
    window:die({ { { ("This request no longer waits: the run is %s."):format(how), "SuperpowerGate" } } })
  end
end

return M
