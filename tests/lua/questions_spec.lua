-- Questions to the user during a run: permissions, and manual stages.
local T = require("harness")
local S = require("support.scripted")
local Shop = require("support.shop")
local describe, it, eq, contains, lacks = T.describe, T.it, T.eq, T.contains, T.lacks

local function request(id)
  return {
    type = "permission",
    id = "r/" .. id,
    run_id = "r",
    stage = 4,
    tool = "Bash",
    title = "Bash: npm test " .. id,
    input = { command = "npm test && echo \27[31m" .. id, description = "runs the tests" },
  }
end

local function asked(nvim, id)
  S.send(nvim, request(id))
  nvim:wait_screen("npm test " .. id)
  nvim:wait_armed()
end

describe("a permission", function()
  it("is in one queue, shown and answered in any window", function()
    local nvim = S.child()
    nvim:cmd("tabnew | terminal cat")
    nvim:cmd("startinsert")
    S.send(nvim, request(1))
    S.send(nvim, request(2))
    nvim:wait("#require('superpower.ask.permission').queue() == 2")
    nvim:feed("<C-\\><C-n>:Superpower gate<CR>")
    for id = 1, 2 do
      nvim:wait_screen("npm test " .. id)
      nvim:wait_armed()
      nvim:feed("o")
      nvim:wait_no_screen("npm test " .. id)
    end
    local value = { answer = "once" }
    eq({ { id = "r/1", value = value }, { id = "r/2", value = value } }, S.calls(nvim, "answer"))
  end)

  it("is asked in a window, with control characters made visible", function()
    local nvim = S.child()
    asked(nvim, 1)
    local screen = nvim:text()
    contains(screen, "permission · stage 4")
    contains(screen, "npm test && echo ^[[31m1")
    contains(screen, "o once")
    eq("superpower-permission", nvim:eval("&filetype"))
  end)

  it("shows an edit as its diff", function()
    local nvim = S.child()
    local edit = request(1)
    edit.tool, edit.input =
      "Edit", { file_path = "a.lua", old_string = "one\ntwo\nthree", new_string = "one\n2\nthree", replace_all = false }
    S.send(nvim, edit)
    nvim:wait_screen("-two")
    local screen = nvim:text()
    contains(screen, "+2")
    lacks(screen, "old_string")
    contains(screen, "replace_all")
  end)

  for key, value in pairs({
    o = { answer = "once" },
    r = { answer = "run" },
    d = { answer = "deny", reason = "" },
  }) do
    it("is answered by " .. key, function()
      local nvim = S.child()
      asked(nvim, 1)
      nvim:feed(key)
      nvim:wait_no_screen("permission · stage 4")
      eq({ { id = "r/1", value = value } }, S.calls(nvim, "answer"))
    end)
  end

  it("is answered by R where a rule is proposed, which the window spells out, and only there", function()
    local nvim = S.child()
    local ruled = request(1)
    ruled.rule = "Bash(npm test:*)"
    S.send(nvim, ruled)
    nvim:wait_screen("permission · stage 4")
    nvim:wait_armed()
    contains(nvim:text(), "r allows exactly this")
    contains(nvim:text(), "until this agent ends: Bash(npm test:*)")
    nvim:feed("R")
    nvim:wait_no_screen("permission · stage 4")
    eq({ { id = "r/1", value = { answer = "rule" } } }, S.calls(nvim, "answer"))
    asked(nvim, 2)
    lacks(nvim:text(), "by its rule")
  end)

  it("is denied with a reason", function()
    local nvim = S.child()
    asked(nvim, 1)
    nvim:feed("D")
    nvim:wait_screen("Why, and what should the agent do instead?")
    nvim:feed("use pnpm<Esc>:w<CR>")
    nvim:wait_no_screen("permission · stage 4")
    eq({ { id = "r/1", value = { answer = "deny", reason = "use pnpm" } } }, S.calls(nvim, "answer"))
    nvim:wait_no_screen("instead?")
  end)

  it("is not answered by a key that comes too early, or from a macro", function()
    local nvim = S.child()
    nvim:lua("vim.fn.setreg('z', 'o')")
    nvim:lua("vim.g.superpower = { gate = { delay = 3600000 } }")
    S.send(nvim, request(1))
    nvim:wait_screen("permission · stage 4")
    for _ = 1, 10 do
      nvim:press("or")
    end
    eq({}, S.calls(nvim, "answer"), "too early")
    nvim:lua("vim.g.superpower = { gate = { delay = 300 } }")
    nvim:wait_armed()
    nvim:press("@z")
    nvim:press("<CR>")
    eq({}, S.calls(nvim, "answer"))
    contains(nvim:text(), "permission · stage 4")
  end)

  it("waits in a queue, and q leaves it open", function()
    local nvim = S.child()
    asked(nvim, 1)
    S.send(nvim, request(2))
    nvim:wait("vim.fn.execute('messages'):match('npm test 2') ~= nil")
    contains(nvim:text(), "npm test 1")
    nvim:feed("o")
    nvim:wait_screen("npm test 2")
    nvim:wait_armed()
    nvim:feed("q")
    nvim:wait_no_screen("permission · stage 4")
    eq(1, #S.calls(nvim, "answer"))
    nvim:cmd("Superpower gate")
    nvim:wait_screen("npm test 2")
  end)

  it("that no longer waits says so, and takes no answer", function()
    local nvim = S.child()
    asked(nvim, 1)
    S.send(nvim, { type = "permission-gone", id = "r/1" })
    nvim:wait_screen("This request no longer waits")
    nvim:press("o")
    eq({}, S.calls(nvim, "answer"))
    nvim:feed("q")
    nvim:wait_no_screen("This request no longer waits")
    nvim:cmd("Superpower gate")
    contains(nvim:messages(), "no gate waits here")
  end)

  it("opens no window while someone types", function()
    local nvim = S.child()
    nvim:feed("ihello")
    S.send(nvim, request(1))
    vim.uv.sleep(700)
    lacks(nvim:text(), "permission · stage 4")
    nvim:feed("<Esc>")
    contains(nvim:messages(), ":Superpower gate opens it")
  end)
end)

describe("a stage that asks", function()
  local function asking()
    local nvim = Shop.child({ env = { DEMO_ASK = "spec-kit" } })
    Shop.start(nvim)
    local run = Shop.state(nvim, "paused", 20000)
    eq("needs-human", run.reason)
    return nvim, run
  end
  local function answers(nvim)
    nvim:wait_screen("Your answer goes to the agent")
    nvim:wait("vim.fn.mode() == 'i'")
    nvim:feed("The blue one<Esc>:w<CR>")
    nvim:wait("(require('superpower.runs').get() or {}).reason ~= 'needs-human'", 10000)
  end

  it("is answered by :Superpower gate, with the question in view", function()
    local nvim, run = asking()
    nvim:cmd("Superpower gate")
    nvim:wait_screen("Your answer goes to the agent")
    contains(nvim:text(), vim.split(run.detail, "\n")[1]:sub(1, 40))
    nvim:feed("<Esc>:w<CR>")
    nvim:wait("vim.fn.execute('messages'):match('write the answer, then') ~= nil")
    eq("needs-human", Shop.status(nvim).reason)
    nvim:feed("i")
    answers(nvim)
    local prompts = ("%s/.claude/state/runs/%s/attempts/*/prompt.md"):format(nvim.project, run.run_id)
    T.wait(function()
      local second = vim.fn.glob(prompts, true, true)[2]
      return second and T.read(second):find("The blue one", 1, true)
    end, 5000, "the answer in the prompt")
  end)

  it("is never started again without an answer by <CR> on its run", function()
    for _, line in ipairs({ "Superpower", "Superpower runs" }) do
      local nvim = asking()
      nvim:cmd(line)
      nvim:wait("vim.api.nvim_win_get_config(0).relative ~= ''")
      nvim:feed((line == "Superpower" and "2G" or "1G") .. "<CR>")
      nvim:wait_screen("Your answer goes to the agent")
      nvim:wait("vim.fn.mode() == 'i'")
      nvim:feed("<Esc>:q<CR>")
      nvim:wait_no_screen("Your answer goes to the agent")
      eq("needs-human", Shop.status(nvim).reason)
    end
  end)

  it("is answered from the progress window", function()
    local nvim = asking()
    nvim:wait_screen("g answer")
    nvim:cmd("wincmd w")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    nvim:feed("g")
    answers(nvim)
  end)
end)

describe("a manual stage", function()
  local config = [[vim.g.superpower = { harness = "manual", trust = "always" }]]

  it("shows its prompt, and takes the result with :w", function()
    local nvim = Shop.child({ init = config })
    Shop.start(nvim)
    nvim:wait_screen("write the result below this line", 10000)
    contains(
      table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n"),
      "people forget their password"
    )
    nvim:feed(":w<CR>")
    nvim:wait("vim.fn.execute('messages'):match('write the result below') ~= nil")
    T.write(nvim.project .. "/docs/specs/reset-password/TASKS.md", "- [ ] one\n")
    T.write(nvim.project .. "/docs/stories/user-auth/one/Story.md", "---\nepic: user-auth\nui: true\n---\n")
    nvim:feed("Goscrap<Esc>:e!<CR>")
    nvim:wait_no_screen("scrap")
    nvim:wait_screen("write the result below this line")
    nvim:feed("GoThe tasks are written<Esc>:w<CR>")
    nvim:wait("not vim.fn.bufname():match('manual')", 8000)
    eq(
      2,
      nvim:wait(
        "return (function() local run = require('superpower').status(); return run and run.current_stage > 1 and run.current_stage end)()"
      )
    )
    Shop.gate(nvim, "Are these the right tasks?")
    contains(nvim:text(), "The tasks are written")
  end)

  it("waits when its buffer is closed, and opens again with the text", function()
    local nvim = Shop.child({ init = config })
    Shop.start(nvim)
    nvim:wait_screen("write the result below this line", 10000)
    nvim:feed("Gohalf of it<Esc>:q<CR>")
    nvim:wait_no_screen("write the result below this line")
    nvim:feed(":qa<CR>")
    vim.uv.sleep(200)
    if nvim:mode().blocking then
      nvim:feed("<CR>")
      vim.uv.sleep(50)
    end
    T.ok(nvim:alive(), "a typed result is not lost by :qa")
    nvim:feed(":enew<CR>")
    nvim:wait_no_screen("half of it")
    eq("running", Shop.status(nvim).state)
    nvim:cmd("Superpower gate")
    nvim:wait_screen("half of it")
    nvim:cmd("Superpower cancel")
    Shop.state(nvim, "cancelled")
    nvim:feed(":w<CR>")
    nvim:wait("vim.fn.execute('messages'):match('no longer waits') ~= nil")
    contains(nvim:text(), "half of it")
  end)

  it("opens again with the submitted result, if that was not accepted", function()
    local nvim = Shop.child({ init = config })
    Shop.start(nvim)
    nvim:wait_screen("write the result below this line", 10000)
    nvim:feed("GoThe tasks are written<Esc>:w<CR>")
    nvim:wait_screen("The attempt before this one failed", 8000)
    local lines = nvim:lua("return vim.api.nvim_buf_get_lines(0, -4, -1, false)")
    eq({ "--- write the result below this line; :w submits it ---", "", "The tasks are written" }, lines)
  end)

  it("says that it waits for the user, and can be skipped", function()
    local nvim = Shop.child({ init = config })
    Shop.start(nvim)
    nvim:wait_screen("write the result below this line", 10000)
    nvim:wait_screen("waits for you")
    contains(nvim:text(), "1/13 · manual")
    nvim:feed(":q<CR>")
    nvim:wait_no_screen("write the result below this line")
    nvim:cmd("wincmd w")
    nvim:wait("vim.bo.filetype == 'superpower-progress'")
    nvim:feed("gg<CR>")
    nvim:wait_screen("write the result below this line", 2000)
    eq("● new-ui-feature 1/13 manual", nvim:lua("return require('superpower').statusline()"))
    nvim:feed(":q<CR>")
    nvim:wait("vim.fn.execute('messages'):match('Superpower gate opens it, :Superpower skip skips it') ~= nil")
    nvim:cmd("Superpower gate")
    nvim:wait_screen("write the result below this line")
    nvim:cmd("Superpower skip")
    nvim:wait_no_screen("write the result below this line")
    Shop.gate(nvim, "Are these the right tasks?")
    eq("skipped", Shop.status(nvim).stages[1].mark)
  end)
end)
