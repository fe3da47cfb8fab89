-- The approval window: when it opens, what its keys do, and that nothing is decided by accident.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local opened = { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" }

local function child(opts)
  local nvim = S.child(opts)
  S.answer(nvim, "review", S.review)
  S.answer(nvim, "decide", { run_id = "0190-abc" })
  return nvim
end

local function reach(nvim)
  S.send(nvim, { type = "snapshot", run = S.at_gate() })
  S.send(nvim, vim.deepcopy(opened))
end

local function is_open(nvim)
  return nvim:lua("return require('superpower.gate').is_open()")
end

--- Opens the window, and waits until its keys count.
local function armed(nvim, opts)
  local it_is = nvim or child(opts)
  reach(it_is)
  it_is:wait("require('superpower.gate').is_open()")
  it_is:wait_screen("a approve")
  it_is:wait("require('superpower.gate').is_armed()")
  return it_is
end

--- The quiet time before keys count: an hour, unless the spec sets another one.
local function delay(nvim, ms)
  nvim:lua("vim.g.superpower = { gate = { delay = ... } }", ms or 3600000)
end

local function decisions(nvim)
  return S.calls(nvim, "decide")
end

describe("the approval window", function()
  it("shows who reports what, and the files under review", function()
    local nvim = armed()
    local screen = nvim:text()
    contains(screen, "Await wireframe approval")
    contains(screen, "gate · stage 5/8")
    contains(screen, "wireframe-architect finished stage 4 in 3:12 and reports")
    contains(screen, "Wireframes for reset-password")
    contains(screen, "+ docs/design/wireframes/reset.md")
    contains(screen, "+84")
    contains(screen, "−1")
    eq("superpower-gate", nvim:eval("&filetype"))
  end)

  it("counts what the list leaves out", function()
    local nvim = S.child()
    local review = vim.deepcopy(S.review)
    review.left_out = "not listed: 3 new ignored files (a.log, b.log, c.log)"
    S.answer(nvim, "review", review)
    armed(nvim)
    contains(nvim:text(), "not listed: 3 new ignored files (a.log, b.log, c.log)")
  end)

  it("approves with a, and is gone", function()
    local nvim = armed()
    nvim:feed("a")
    nvim:wait("not require('superpower.gate').is_open()")
    local call = decisions(nvim)[1]
    eq({ "approve", "0190-abc", "5.1" }, { call.decision, call.run_id, call.gate })
    eq(1, #decisions(nvim))
  end)

  it("takes no key before its quiet moment, and an early key restarts it", function()
    local nvim = child()
    delay(nvim)
    reach(nvim)
    nvim:wait("require('superpower.gate').is_open()")
    for _ = 1, 8 do
      nvim:press("a")
    end
    eq({}, decisions(nvim))
    ok(is_open(nvim))
    delay(nvim, 300)
    nvim:wait_armed()
    nvim:feed("a")
    nvim:wait("not require('superpower.gate').is_open()")
    eq(1, #decisions(nvim))
  end)

  it("shows with a dim footer that keys do not work yet", function()
    local nvim = child()
    delay(nvim)
    reach(nvim)
    nvim:wait("require('superpower.gate').is_open()")
    local function foot()
      return nvim:lua([[
        for _, win in ipairs(vim.api.nvim_list_wins()) do
          if vim.bo[vim.api.nvim_win_get_buf(win)].filetype == "superpower-gate" then
            return vim.api.nvim_win_get_config(win).footer[1][2]
          end
        end
      ]])
    end
    eq("SuperpowerDim", foot())
    delay(nvim, 300)
    nvim:wait("require('superpower.gate').is_armed()")
    eq("SuperpowerKey", foot())
  end)

  it("does nothing on <CR> and other keys", function()
    local nvim = armed()
    nvim:press("<CR><Space>yxj<C-m><BS>A<Esc>2<CR>")
    eq({}, decisions(nvim))
    ok(is_open(nvim))
  end)

  it("asks once more before it rejects", function()
    local nvim = armed()
    delay(nvim)
    nvim:feed("r")
    nvim:wait_screen("reject: the run ends here")
    nvim:press("rry")
    eq({}, decisions(nvim), "too early")
    delay(nvim, 300)
    nvim:wait_armed()
    nvim:feed("n")
    nvim:wait_screen("a approve")
    nvim:wait_armed()
    nvim:feed("r")
    nvim:wait_screen("reject: the run ends here")
    nvim:wait_armed()
    nvim:feed("y")
    nvim:wait("not require('superpower.gate').is_open()")
    eq("reject", decisions(nvim)[1].decision)
  end)

  it("takes a comment in a buffer: an empty one is refused, :q keeps the draft, :w sends", function()
    local nvim = armed()
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    contains(nvim:text(), "~ docs/stories/reset-password-1/Story.md")
    nvim:press("<Esc>:w<CR>")
    eq({}, decisions(nvim))
    contains(nvim:messages(), "write what should change")
    nvim:feed("imake it blue<Esc>:q<CR>")
    nvim:wait_no_screen("Request changes")
    ok(is_open(nvim))
    eq("superpower-gate", nvim:eval("&filetype"))
    nvim:feed("c")
    nvim:wait_screen("make it blue")
    nvim:feed("A, please<Esc>:w<CR>")
    nvim:wait("not require('superpower.gate').is_open()")
    eq({ "changes", "make it blue, please" }, { decisions(nvim)[1].decision, decisions(nvim)[1].comment })
    nvim:wait_no_screen("Request changes")
    eq("n", nvim:mode().mode)
  end)

  it("a copy of a comment, with :w FILE, decides nothing", function()
    local nvim = armed()
    nvim:feed("c")
    nvim:wait("vim.bo.filetype == 'markdown'")
    nvim:feed("the header is missing")
    local path = T.dir() .. "/copy.md"
    nvim:feed(("<Esc>:w %s<CR>"):format(path))
    nvim:wait(("vim.uv.fs_stat(%q) ~= nil"):format(path))
    contains(T.read(path), "the header is missing")
    nvim:feed(":w<Space>" .. path .. "<CR>")
    nvim:wait_screen("File exists")
    eq({}, decisions(nvim))
    nvim:feed("<CR>:w<CR>")
    nvim:wait("not require('superpower.gate').is_open()")
    eq("the header is missing", decisions(nvim)[1].comment)
  end)

  for name, keys in pairs({ wq = ":wq<CR>", x = ":x<CR>", ZZ = "ZZ" }) do
    it("sends a comment with " .. name .. " too", function()
      local nvim = armed()
      nvim:feed("c")
      nvim:wait_screen("Request changes")
      nvim:feed("more contrast<Esc>" .. keys)
      nvim:wait("not require('superpower.gate').is_open()")
      eq("more contrast", decisions(nvim)[1].comment)
    end)
  end

  it("is not decided by a plugin that saves what is modified", function()
    local nvim = armed()
    nvim:cmd("autocmd InsertLeave,TextChanged,FocusLost * ++nested silent! update")
    nvim:cmd("autocmd InsertLeave,TextChanged,FocusLost * ++nested silent! wall")
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:press("half a thought<Esc>")
    nvim:cmd("doautocmd FocusLost")
    nvim:cmd("silent! update | silent! wall")
    eq({}, decisions(nvim))
    ok(is_open(nvim))
  end)

  it("is not lost by :qa, open or put aside, and not sent by a plugin's timer or a :wall from elsewhere", function()
    local nvim = armed()
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:feed("half a thought")
    nvim:lua("vim.defer_fn(function() vim.cmd('silent! update | silent! wall') end, 30)")
    vim.uv.sleep(150)
    nvim:feed("<Esc>")
    nvim:lua("vim.defer_fn(function() vim.cmd('silent! update | silent! wall') end, 30)")
    vim.uv.sleep(150)
    eq({}, decisions(nvim))
    nvim:feed(":qa<CR>")
    vim.uv.sleep(150)
    if nvim:mode().blocking then
      nvim:feed("<CR>")
      vim.uv.sleep(50)
    end
    ok(nvim:alive())
    nvim:feed(":q<CR>")
    nvim:wait("vim.bo.filetype == 'superpower-gate'")
    nvim:press(":wa<CR>")
    eq({}, decisions(nvim))
    nvim:feed("q:qa<CR>")
    vim.uv.sleep(150)
    if nvim:mode().blocking then
      nvim:feed("<CR>")
      vim.uv.sleep(50)
    end
    ok(nvim:alive())
    contains(nvim:messages(), "superpower://comment")
  end)

  it("has its text again after :e!", function()
    local nvim = armed()
    nvim:feed(":e!<CR>")
    vim.uv.sleep(100)
    contains(nvim:text(), "Wireframes for reset-password")
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
  end)

  it("shows the refusal of the engine and keeps the comment in its buffer", function()
    local nvim = armed()
    S.refuse(nvim, "decide", { code = "nothing-to-rework", message = "nothing to rework" })
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:press("try again<Esc>:w<CR>")
    contains(nvim:messages(), "nothing to rework")
    contains(nvim:text(), "try again")
  end)

  it("opens a file, and its diff in a tab, and comes back", function()
    local nvim = armed(nil, {
      files = { ["docs/design/wireframes/reset.md"] = "new\n", ["docs/stories/reset-password-1/Story.md"] = "b\nc\n" },
    })
    S.answer(
      nvim,
      "diff",
      { before = "a\nc\n", after_path = nvim.project .. "/docs/stories/reset-password-1/Story.md" }
    )
    nvim:feed("ggd") -- there is no file on this line, so the next one below counts
    nvim:wait("#vim.api.nvim_list_tabpages() == 2")
    eq("docs/design/wireframes/reset.md", S.calls(nvim, "diff")[1].path)
    nvim:cmd("tabclose")
    nvim:wait("vim.bo.filetype == 'superpower-gate'")
    nvim:feed("/Story.md<CR>d")
    nvim:wait("#vim.api.nvim_list_tabpages() == 2")
    eq(
      { "a", "c" },
      nvim:lua([[
      vim.cmd("wincmd h")
      return vim.api.nvim_buf_get_lines(0, 0, -1, false)
    ]])
    )
    eq(2, nvim:lua("return #vim.tbl_filter(function(w) return vim.wo[w].diff end, vim.api.nvim_tabpage_list_wins(0))"))
    nvim:feed("q")
    nvim:wait("#vim.api.nvim_list_tabpages() == 1")
    nvim:wait("vim.bo.filetype == 'superpower-gate'")
    nvim:feed("/reset.md<CR>o")
    nvim:wait("vim.api.nvim_buf_get_name(0):match('reset.md$') ~= nil")
    eq({}, decisions(nvim))
  end)

  it("shows control characters and bidirectional text", function()
    local nvim = child()
    local review = vim.deepcopy(S.review)
    review.message = "red \27[31m and \226\128\174drow and \7"
    S.answer(nvim, "review", review)
    armed(nvim)
    contains(nvim:text(), "red ^[[31m and <202e>drow and ^G")
  end)

  it("fits 60 by 15, and 300 by 80", function()
    for _, size in ipairs({ { 60, 15 }, { 300, 80 } }) do
      local nvim = armed(nil, { columns = size[1], lines = size[2] })
      contains(nvim:text(), "gate · stage 5/8")
      contains(nvim:text(), "a approve")
    end
  end)
end)

describe("a gate that is reached while someone types", function()
  local ways = {
    { "in insert mode", "ihello" },
    { "in visual mode", "v" },
    { "in the command line", ":echo 1" },
    { "in operator-pending mode", "d" },
    { "in replace mode", "R" },
    { "in select mode", "gh" },
    { "recording a macro", "qz" },
    { "in the command-line window", "q:" },
    { "at a search", "/abc" },
  }
  for _, way in ipairs(ways) do
    it("says so and takes no focus: " .. way[1], function()
      local nvim = child()
      S.send(nvim, { type = "snapshot", run = S.run() })
      nvim:feed(way[2])
      vim.uv.sleep(30)
      local events = { { type = "snapshot", run = S.at_gate() }, vim.deepcopy(opened) }
      for _, event in ipairs(events) do
        event.root = nvim.project
        if event.run then
          event.run.root = nvim.project
        end
        vim.rpcnotify(
          nvim.channel,
          "nvim_exec_lua",
          "local e = ...; vim.schedule(function() require('superpower.engine').script.send(e) end)",
          { event }
        )
      end
      vim.uv.sleep(800)
      nvim:feed("<C-c><C-c><Esc>")
      vim.uv.sleep(100)
      if nvim:eval("reg_recording()") ~= "" then
        nvim:feed("q")
      end
      vim.uv.sleep(50)
      ok(not is_open(nvim))
      eq({}, decisions(nvim))
      if way[2] ~= "q:" or nvim:eval("has('nvim-0.11')") == 1 then -- Neovim 0.10 does not keep the message of that window
        contains(nvim:messages(), "waits at gate 5/8")
      end
      if nvim:eval("getcmdwintype()") ~= "" then
        nvim:feed(":q<CR>")
      end
      nvim:cmd("Superpower gate")
      ok(is_open(nvim))
    end)
  end

  it("in terminal mode", function()
    local nvim = child()
    nvim:cmd("terminal cat")
    nvim:feed("i")
    nvim:wait("vim.api.nvim_get_mode().mode == 't'")
    reach(nvim)
    vim.uv.sleep(700)
    ok(not is_open(nvim))
    eq("t", nvim:mode().mode)
  end)

  it("waits for a quiet moment between normal-mode commands", function()
    local nvim = child()
    S.send(nvim, { type = "snapshot", run = S.run() })
    vim.uv.sleep(30)
    nvim:feed("j")
    reach(nvim)
    for _ = 1, 6 do
      vim.uv.sleep(150)
      nvim:feed("j")
      ok(not is_open(nvim))
    end
    nvim:wait("require('superpower.gate').is_open()")
  end)

  it("is not opened at all by option", function()
    local nvim = child()
    nvim:lua("vim.g.superpower = { gate = { open = false } }")
    reach(nvim)
    vim.uv.sleep(300)
    ok(not is_open(nvim))
    contains(nvim:messages(), ":Superpower gate opens it")
  end)
end)

describe("the place of the approval window", function()
  it("grows with the screen, and is a float again after CTRL-W H", function()
    local nvim = child({ columns = 40, lines = 10 })
    reach(nvim)
    nvim:wait("require('superpower.gate').is_open()")
    nvim:resize(120, 30)
    nvim:wait("vim.api.nvim_win_get_width(0) == 76 and vim.api.nvim_win_get_height(0) > 10")
    nvim:feed("<C-w>H")
    nvim:wait("vim.api.nvim_win_get_config(0).relative == ''")
    nvim:cmd("Superpower gate")
    nvim:wait("vim.api.nvim_win_get_config(0).relative == 'editor'")
    nvim:wait_screen("a approve")
    eq({}, decisions(nvim))
  end)
end)

describe("closing the approval window", function()
  local ways = {
    q = "q",
    [":q"] = ":q<CR>",
    [":q!"] = ":q!<CR>",
    [":close"] = ":close<CR>",
    ["CTRL-W c"] = "<C-w>c",
    ["CTRL-W q"] = "<C-w>q",
    [":bdelete"] = ":bdelete!<CR>",
    [":bwipeout"] = ":bwipeout!<CR>",
    [":only elsewhere"] = "<C-w>w:only<CR>",
    [":tabclose"] = ":tabnew<CR>:tabprevious<CR>:tabclose<CR>",
    [":fclose"] = ":fclose!<CR>",
  }
  for name, keys in pairs(ways) do
    it("by " .. name .. " decides nothing, and the gate can be opened again", function()
      local nvim = armed()
      nvim:feed(keys)
      vim.uv.sleep(100)
      if nvim:mode().blocking then
        nvim:feed("<CR>")
        vim.uv.sleep(50)
      end
      nvim:wait("not require('superpower.gate').is_open()")
      eq({}, decisions(nvim))
      nvim:cmd("Superpower gate")
      ok(is_open(nvim))
      eq({}, decisions(nvim))
    end)
  end
end)

describe("a gate decided elsewhere", function()
  local decided = {
    type = "gate-decided",
    run_id = "0190-abc",
    gate = "5.1",
    stage = 5,
    decision = "approve",
    comment = "go",
    by = "ann",
  }

  it("says who and what, goes dim, and takes only q", function()
    local nvim = armed()
    S.send(nvim, vim.deepcopy(decided))
    nvim:wait_screen("Decided elsewhere: approved by ann: go")
    lacks(nvim:text(), "a approve")
    nvim:press("a")
    nvim:press("c")
    nvim:press("r")
    eq({}, decisions(nvim))
    ok(is_open(nvim))
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
  end)

  it("leaves a comment in its buffer, and says that it came too late", function()
    local nvim = armed()
    nvim:feed("c")
    nvim:wait_screen("Request changes")
    nvim:feed("wait<Esc>")
    S.send(nvim, vim.deepcopy(decided))
    nvim:press(":w<CR>")
    contains(nvim:messages(), "too late")
    contains(nvim:text(), "wait")
    eq({}, decisions(nvim))
  end)

  it("is noticed from the run's state as well", function()
    local nvim = armed()
    S.send(nvim, { type = "snapshot", run = S.run({ at = 6 }) })
    nvim:wait_screen("This gate no longer waits")
  end)

  it("never turns into another gate", function()
    local nvim = armed()
    local other = S.at_gate({ at = 7, gate = { id = "7.1", stage = 7, visit = 1, label = "Await palette approval" } })
    S.send(nvim, { type = "snapshot", run = other })
    S.send(nvim, { type = "gate-opened", run_id = "0190-abc", stage = 7, gate = "7.1", superpower = "new-ui-feature" })
    nvim:wait_screen("This gate no longer waits")
    nvim:press("a")
    eq({}, decisions(nvim))
    nvim:wait("vim.fn.execute('messages'):match('waits at gate 7/8') ~= nil")
  end)
end)

describe("the keys of a macro", function()
  it("decide nothing", function()
    local nvim = armed()
    nvim:lua("vim.fn.setreg('z', 'a'); vim.fn.setreg('y', 'c')")
    nvim:press("@z")
    nvim:press("@y")
    eq({}, decisions(nvim))
    ok(is_open(nvim))
  end)
end)

describe("a key that was typed before the window was shown", function()
  local waits = {
    ["a sleep"] = ":sleep 2<CR>",
    ["vim.wait()"] = ":lua vim.wait(2000)<CR>",
    ["getchar()"] = ":call getchar()<CR>",
    ["a mapping that waits"] = "gw",
  }
  for name, keys in pairs(waits) do
    it("decides nothing: in " .. name, function()
      local nvim = child()
      nvim:lua([[vim.keymap.set("n", "gw", function() vim.wait(2000) end)]])
      S.send(nvim, { type = "snapshot", run = S.run() })
      nvim:lua(
        [[local run, event = ...
          run.root, event.root = vim.env.SP_ROOT or vim.uv.cwd(), vim.env.SP_ROOT or vim.uv.cwd()
          vim.defer_fn(function()
            local script = require('superpower.engine').script
            script.send({ type = "snapshot", root = run.root, run = run })
            script.send(event)
          end, 100)]],
        S.at_gate(),
        vim.deepcopy(opened)
      )
      nvim:feed(keys)
      vim.uv.sleep(700)
      nvim:feed("a")
      nvim:press("<Esc>")
      eq({}, decisions(nvim))
      nvim:cmd("fclose!") -- it may have been open for long
      nvim:cmd("Superpower gate")
      nvim:wait_armed()
      nvim:feed("a")
      nvim:wait("not require('superpower.gate').is_open()")
      eq(1, #decisions(nvim))
    end)
  end

  it("decides nothing with a second key directly after another", function()
    local nvim = armed()
    nvim:press("ja")
    eq({}, decisions(nvim))
    nvim:wait_armed()
    nvim:feed("a")
    nvim:wait("not require('superpower.gate').is_open()")
  end)

  it("decides nothing where the user opened the gate inside a wait", function()
    local nvim = child()
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    nvim:wait("require('superpower.runs').get() ~= nil")
    nvim:feed(":exe 'Superpower gate' | sleep 2<CR>")
    vim.uv.sleep(600)
    nvim:press("a")
    eq({}, decisions(nvim))
    ok(is_open(nvim))
  end)
end)

-- A user who is typing when the window opens decides nothing. SUPERPOWER_KEYSTREAMS=100000 runs the full test.
describe("random keys across the moment that a gate opens", function()
  local keys = {}
  -- Without "=": Neovim 0.11 aborts while it highlights some typed expressions (an assertion in viml_pexpr_handle_bop,
  -- also without plugins).
  for char in ("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPRSTUVWXY0123456789.,;'\"[](){}<>/?@$%^&*-_+"):gmatch(".") do
    table.insert(keys, char == "<" and "<lt>" or char)
  end
  vim.list_extend(keys, { "<CR>", "<Esc>", "<Tab>", "<BS>", "<Space>", "<C-w>", "<C-c>", "<C-o>", "<C-r>", "<C-d>" })
  local starts = { "", "", "i", "v", "V", ":", "/", "R", "qz", "d", "c", "gh", "A", "@z", '"', "3" }
  table.insert(starts, ":Shell<CR>i") -- terminal mode

  it("decide nothing", function()
    local streams = tonumber(vim.env.SUPERPOWER_KEYSTREAMS) or 150
    local seed = tonumber(vim.env.SUPERPOWER_SEED) or os.time()
    math.randomseed(seed)
    local nvim
    for stream = 1, streams do
      if nvim and not nvim.code and stream % 500 == 0 then
        nvim:kill() -- start again without the terminals, buffers and text that have accumulated
        nvim = nil
      end
      if nvim and nvim.code then -- such as `:x`
        local last = table.concat(nvim.stderr, "\n"):sub(-400)
        ok(nvim.code < 128, ("seed %d, stream %d: ended with status %d\n%s"):format(seed, stream, nvim.code, last))
      end
      if not nvim or nvim.code then
        nvim = child()
        nvim:lua("vim.fn.setreg('z', 'aac'); vim.o.shell = '/bin/true'")
        nvim:cmd("command! Shell enew! | call termopen(['cat'])")
        S.send(nvim, { type = "snapshot", run = S.run() })
      end
      pcall(vim.rpcnotify, nvim.channel, "nvim_input", starts[math.random(#starts)])
      local typed = {}
      for moment = 1, 2 do
        local burst = {}
        for _ = 1, math.random(4, 25) do
          table.insert(burst, keys[math.random(#keys)])
        end
        table.insert(typed, table.concat(burst))
        pcall(vim.rpcnotify, nvim.channel, "nvim_input", typed[moment])
        if moment == 1 then
          local run = S.at_gate()
          run.root = nvim.project
          pcall(
            vim.rpcnotify,
            nvim.channel,
            "nvim_exec_lua",
            [[local run, event = ...
              vim.schedule(function()
                local script = require('superpower.engine').script
                script.send({ type = "snapshot", root = run.root, run = run })
                if math.random(2) == 1 then
                  script.send(event)
                elseif vim.api.nvim_get_mode().mode == "n" then
                  pcall(require('superpower.gate').open, run.root, true)
                end
              end)]],
            { run, vim.tbl_extend("force", opened, { root = nvim.project }) }
          )
        end
      end
      pcall(vim.rpcnotify, nvim.channel, "nvim_input", "<C-\\><C-n><Esc>")
      vim.wait(2)
      if stream % 10 == 0 and not nvim.code then
        pcall(vim.rpcnotify, nvim.channel, "nvim_input", "<C-c><C-c><C-\\><C-n><CR><Esc>")
        vim.wait(30)
        -- A macro that is recorded into itself never ends.
        local pid, endless, watchdog = nvim.job_pid, false, assert(vim.uv.new_timer())
        watchdog:start(20000, 0, function()
          endless = true
          vim.uv.kill(pid, "sigkill")
        end)
        local alive = pcall(function()
          eq({}, decisions(nvim), ("seed %d, stream %d: %s"):format(seed, stream, table.concat(typed, " | ")))
          nvim:lua([[
            vim.cmd("silent! tabonly! | silent! only! | silent! %bwipeout!")
            for _, win in ipairs(vim.api.nvim_list_wins()) do pcall(vim.api.nvim_win_close, win, true) end
          ]])
        end)
        watchdog:close()
        if endless then
          nvim = nil
        elseif not alive and not nvim.code then
          local answered, mode = pcall(nvim.mode, nvim)
          if answered and not mode.blocking then
            eq({}, decisions(nvim), ("seed %d, stream %d"):format(seed, stream))
          end
          nvim:kill()
          nvim = nil
        end
      end
    end
  end)
end)
