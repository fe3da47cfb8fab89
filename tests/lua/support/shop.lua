-- A child Neovim in a copy of examples/shop with the demo's agent: the real library, real processes, real files.
--
--   local nvim = Shop.child({ env = { DEMO_FAIL = "ux-researcher" } })
--   Shop.start(nvim)                       :Superpower run new-ui-feature …
--   Shop.gate(nvim, "Are these the right tasks?")   waits until that gate's window takes keys

local T = require("harness")

local Shop = {}

Shop.inputs = [[epic=user-auth feature_slug=reset-password problem_statement="people forget their password"]]

function Shop.project(dir)
  T.sh({ "cp", "-R", T.root .. "/examples/shop/.", dir })
  vim.fn.delete(dir .. "/.claude/state", "rf")
  vim.fn.delete(dir .. "/.claude/logs", "rf")
  T.sh({
    "sh",
    "-c",
    "git init -q && git add -A && git -c user.name=t -c user.email=t@localhost -c commit.gpgsign=false commit -qm start",
  }, { cwd = dir })
  return dir
end

--- The options of the demo's init file.
Shop.config = ([[vim.g.superpower = {
  harness = "command", trust = "always",
  harnesses = { command = { cmd = { "%s/examples/demo/agent", "{agent}{skill}" } } },
}]]):format(T.root)

function Shop.child(opts)
  if not T.library() then
    T.skip("the library is not built")
  end
  opts = vim.tbl_deep_extend("force", { columns = 130, lines = 36, env = { DEMO_PACE = "0.05" } }, opts or {})
  opts.cwd = opts.cwd or Shop.project(T.dir())
  opts.init = (opts.init or Shop.config) .. "\nvim.o.shortmess = vim.o.shortmess .. 'I'"
  local nvim = T.child(opts)
  nvim.project = opts.cwd
  return nvim
end

function Shop.start(nvim, line)
  nvim:cmd("Superpower run " .. (line or ("new-ui-feature " .. Shop.inputs)))
end

function Shop.status(nvim)
  return nvim:lua("return require('superpower').status()")
end

--- Waits for a gate's window, and until its keys count.
function Shop.gate(nvim, label, ms)
  nvim:wait_screen(label, ms or 15000)
  nvim:wait("require('superpower.gate').is_open()", ms or 15000)
  nvim:wait_screen(label)
  vim.uv.sleep(500)
  nvim:wait("require('superpower.gate').is_armed()")
end

--- Waits until the run has the state.
function Shop.state(nvim, state, ms)
  return nvim:wait(
    ("return (function() local run = require('superpower').status(); return run and run.state == %q and run end)()"):format(
      state
    ),
    ms or 15000
  )
end

return Shop
