--- The state that the dashboard shows: the superpowers of a project, its runs, and what waits. It is collected again
--- when the run moves.
local manual = require("superpower.ask.manual")
local permission = require("superpower.ask.permission")
local config = require("superpower.config")
local store = require("superpower.runs")
local skipped_links = require("superpower.runs.skipped_links")
local session = require("superpower.session")
local overview = require("superpower.views.overview")

local M = {}

--- Adds the gate and the detail to unfinished runs, which their summaries lack.
---@param root string
---@param runs table[] summaries
---@param done fun()
local function complete(root, runs, done)
  local open = vim.list_slice(vim.tbl_filter(overview.unfinished, runs), 1, 10)
  local left = #open
  for _, run in ipairs(open) do
    session.ask("status", { root = root, run_id = run.run_id }, function(now)
      if type(now) == "table" and now.run_id == run.run_id then
        run.gate, run.detail = now.gate, now.detail
      end
      left = left - 1
      if left == 0 then
        done()
      end
    end)
  end
  if #open == 0 then
    done()
  end
end

---@param root string
---@param done fun(state: superpower.OverviewState?, err: superpower.Error?)
function M.collect(root, done)
  session.ask("list", { root = root }, function(list, err)
    if err then
      return done(nil, err)
    end
    session.ask("runs", { root = root }, function(runs, fault)
      if fault then
        return done(nil, fault)
      end
      runs = runs or {}
      complete(root, runs, function()
        skipped_links.unless_found(root, list, function(left)
          done({
            list = list,
            left = left,
            runs = runs,
            asks = vim.tbl_filter(function(request)
              return request.root == root
            end, permission.queue()),
            manual = manual.waiting(root),
            now = os.time() * 1000,
            icons = config.get().icons,
          })
        end)
      end)
    end)
  end)
end

--- Updates the page when the run changes, while it is open.
---@param root string
---@param page superpower.Page
---@param update fun(state: superpower.OverviewState)
function M.follow(root, page, update)
  local function key()
    local run = store.get(root)
    return run and ("%s %s %s %d"):format(run.run_id, run.state, run.reason or "", run.current_stage) or ""
  end
  local seen = key()
  store.listen("dashboard", function(what, of)
    if not page:is_open() then
      store.listen("dashboard", nil)
    elseif what == "snapshot" and of == root and key() ~= seen then
      local now = key()
      seen = now
      -- Asked, not called: the editor must not wait during a run. Answers may arrive in another order.
      M.collect(root, function(state)
        if state and now == seen and page:is_open() then
          update(state)
        end
      end)
    end
  end)
end

return M
