-- Differences between Neovim's versions and settings: borders, message lines, ignored events, outlines.
local T = require("harness")
local S = require("support.scripted")
local Shop = require("support.shop")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local opened = { type = "gate-opened", run_id = "0190-abc", stage = 5, gate = "5.1", superpower = "new-ui-feature" }

local function reach(nvim)
  S.answer(nvim, "review", S.review)
  S.answer(nvim, "decide", { run_id = "0190-abc" })
  S.send(nvim, { type = "snapshot", run = S.at_gate() })
  S.send(nvim, vim.deepcopy(opened))
  nvim:wait("require('superpower.gate').is_open()")
end

describe("a gate", function()
  it("shows its question and its keys with every border", function()
    for _, border in ipairs({ "none", "single", "double", "rounded", "solid", "shadow", "+,,+,|,+,,+,|" }) do
      for _, how in ipairs({ "border", "winborder" }) do
        local nvim = S.child({
          init = how == "border" and ("vim.g.superpower = { border = %q }"):format(border)
            or ("if vim.fn.exists('+winborder') == 1 then pcall(function() vim.o.winborder = %q end) end"):format(
              border
            ),
        })
        reach(nvim)
        nvim:wait_screen("Await wireframe approval")
        local screen = nvim:text()
        contains(screen, "gate · stage 5/8", border)
        contains(screen, "approve", border)
      end
    end
  end)

  it("takes keys with 'eventignore' set to all, and none from inside a command that waits", function()
    local nvim = S.child()
    reach(nvim)
    nvim:cmd("set eventignore=all")
    nvim:wait("require('superpower.gate').is_armed()")
    nvim:lua("vim.o.eventignore = ''")
    nvim:feed("q")
    nvim:wait("not require('superpower.gate').is_open()")
    nvim:cmd("set eventignore=all")
    nvim:cmd("Superpower gate")
    nvim:wait("require('superpower.gate').is_open()")
    ok(not nvim:lua([[vim.wait(700); return require("superpower.gate").is_armed()]]), "that was no quiet moment")
    nvim:wait("require('superpower.gate').is_armed()")
    nvim:feed("a")
    nvim:wait("not require('superpower.gate').is_open()")
    eq(1, #S.calls(nvim, "decide"))
  end)

  it("does not take the cursor from an open pager of Neovim's messages", function()
    if T.child():eval("has('nvim-0.12')") == 0 then
      T.skip("there is no such pager before 0.12")
    end
    local nvim = S.child()
    S.attach_ui(nvim)
    nvim:lua("require('vim._core.ui2').enable({ enable = true })")
    nvim:lua("for n = 1, 40 do vim.api.nvim_echo({ { 'line ' .. n } }, true, {}) end")
    vim.uv.sleep(100)
    nvim:feed("<CR>:messages<CR>")
    nvim:wait("vim.bo.filetype == 'pager'")
    S.answer(nvim, "review", S.review)
    S.send(nvim, { type = "snapshot", run = S.at_gate() })
    S.send(nvim, vim.deepcopy(opened))
    vim.uv.sleep(900)
    eq("pager", nvim:lua("return vim.bo.filetype"))
    ok(not nvim:lua("return require('superpower.gate').is_open()"))
  end)

  it("is reported without a command if it opens automatically", function()
    if T.child():eval("has('nvim-0.12')") == 0 then
      T.skip("there are no progress messages before 0.12")
    end
    local nvim = S.child()
    nvim:lua(
      [[progress = {}
      vim.api.nvim_create_autocmd("Progress", { callback = function(event) table.insert(progress, event.data.text) end })]]
    )
    S.send(nvim, { type = "snapshot", run = S.run({ at = 4 }) })
    nvim:wait("#progress > 0")
    reach(nvim)
    nvim:wait("vim.inspect(progress):find('waits at gate') ~= nil")
    lacks(nvim:lua("return vim.inspect(progress)"), "opens it")
  end)
end)

describe("a message with 'cmdheight' at 0", function()
  local last = [[
    local cells = {}
    for column = 1, vim.o.columns do cells[column] = vim.fn.screenstring(vim.o.lines, column) end
    return vim.trim(table.concat(cells))
  ]]

  it("stays during a run in the progress window, until a key is typed", function()
    for _, say in ipairs({
      "vim.notify('somebody says this')",
      "vim.api.nvim_echo({{'somebody says this'}}, false, {})",
    }) do
      local nvim = S.child({ init = "vim.o.cmdheight = 0" })
      S.attach_ui(nvim)
      S.send(nvim, { type = "snapshot", run = S.run() })
      nvim:wait("require('superpower.runs').ticking()")
      nvim:lua("require('superpower.views.progress').open(...)", nvim.project)
      nvim:lua("ticks = 0; require('superpower.runs').listen('spec', function() ticks = ticks + 1 end)")
      nvim:wait("ticks > 3")
      nvim:lua(("vim.schedule(function() %s; ticks = 0 end)"):format(say))
      nvim:wait("ticks > 12")
      eq("somebody says this", nvim:lua(last))
      nvim:feed("l")
      nvim:wait(("return (function() %s end)() ~= 'somebody says this'"):format(last))
    end
  end)

  it("is shown once, also with Neovim's message windows", function()
    if T.child():eval("has('nvim-0.12')") == 0 then
      T.skip("there is no ui2 before 0.12")
    end
    local nvim = S.child({ init = "vim.o.cmdheight = 0" })
    S.attach_ui(nvim)
    nvim:lua("require('vim._core.ui2').enable({ enable = true })")
    local long = ("word "):rep(60) .. "end"
    nvim:lua("require('superpower.notify').warn(...)", long)
    nvim:wait("vim.fn.execute('messages'):find('word') ~= nil")
    local _, count = nvim:messages():gsub("end", "")
    eq(1, count)
  end)
end)

describe("an outline", function()
  it("shows gates with the default filters of outlines", function()
    -- The fields that Trouble, Snacks and aerial use.
    local kept = { Class = 5, Method = 6, Constructor = 9, Enum = 10, Interface = 11, Function = 12, Struct = 23 }
    local nvim = Shop.child()
    nvim:cmd("edit .claude/superpowers/bugfix.yaml")
    nvim:wait("#vim.lsp.get_clients({ bufnr = 0 }) > 0")
    local kinds = nvim:lua([[
      local params = { textDocument = vim.lsp.util.make_text_document_params(0) }
      local _, answer = next(vim.lsp.buf_request_sync(0, "textDocument/documentSymbol", params, 5000))
      return vim.tbl_map(function(symbol) return symbol.kind end, answer.result)
    ]])
    eq(5, #kinds)
    for _, kind in ipairs(kinds) do
      ok(vim.tbl_contains(vim.tbl_values(kept), kind), tostring(kind))
    end
    ok(kinds[1] ~= kinds[2], "a gate is told from a stage")
  end)
end)

describe("completion of what is typed at once", function()
  local function editing(init)
    local nvim = Shop.child({ init = Shop.config .. (init or "") })
    nvim:cmd("edit .claude/superpowers/bugfix.yaml")
    nvim:wait("#vim.lsp.get_clients({ bufnr = 0 }) > 0")
    nvim:wait("vim.lsp.get_clients({ bufnr = 0 })[1].initialized")
    nvim:cmd("set noautoindent indentexpr= cinkeys= indentkeys=")
    return nvim
  end

  it("has a menu: the editor asks once, and the answer fits the newest text", function()
    -- From 0.12 on Neovim shows no prompt if another key is typed within 25 ms.
    if T.child():eval("has('nvim-0.11') && !has('nvim-0.12')") == 0 then
      T.skip("it is 0.11 that asks at each trigger")
    end
    local nvim = editing([[
      vim.o.completeopt = "menuone,noselect"
      vim.api.nvim_create_autocmd("LspAttach", { callback = function(event)
        vim.lsp.completion.enable(true, event.data.client_id, event.buf, { autotrigger = true })
      end })]])
    nvim:feed("Go  - agent: a")
    nvim:wait("vim.fn.pumvisible() == 1")
    ok(nvim:lua("return #vim.fn.complete_info({ 'items' }).items") > 0)
    eq("  - agent: a", nvim:lua("return vim.api.nvim_get_current_line()"))
  end)

  it("is answered if the word has grown, and not if the cursor has left its line", function()
    for act, answered in pairs({ ["vim.api.nvim_feedkeys('a', 'n', false)"] = true, ["vim.fn.cursor(1, 1)"] = false }) do
      local nvim = editing()
      nvim:feed("Go  - agent: ")
      nvim:wait("vim.api.nvim_get_current_line() == '  - agent: '")
      nvim:lua([[
        local params = vim.lsp.util.make_position_params(0, "utf-16")
        vim.lsp.buf_request(0, "textDocument/completion", params, function(_, result)
          got = result and #result.items or 0
        end)
        vim.api.nvim_buf_set_text(0, 0, 0, 0, 0, { "# " }) -- outdated at once
      ]] .. act)
      nvim:wait("got ~= nil")
      eq(answered, nvim:lua("return got") > 0, act)
    end
  end)
end)

describe("the plugin's build while Neovim starts", function()
  it("shows its error again once there is a screen", function()
    local dir = T.dir()
    T.write(
      dir .. "/init.lua",
      ([[vim.opt.runtimepath:prepend(%q)
        said = {}
        vim.notify = function(text) table.insert(said, { text, vim.v.vim_did_enter }) end
        vim.env.PATH = "/nowhere"
        require("superpower.build").run({ wait = true })
        vim.api.nvim_create_autocmd("VimEnter", { callback = function()
          vim.defer_fn(function()
            io.stdout:write(vim.json.encode(said))
            vim.cmd("qa!")
          end, 50)
        end })]]):format(T.root)
    )
    local done = T.sh(
      { vim.v.progpath, "--headless", "-n", "-i", "NONE", "-u", dir .. "/init.lua" },
      { timeout = 20000 }
    )
    local said = vim.json.decode(done.stdout)
    eq({ 0, 1 }, { said[1][2], said[2][2] })
    eq(said[1][1], said[2][1])
    contains(said[2][1], "cargo")
  end)

  it("is what :checkhealth names cargo for", function()
    for path, words in pairs({ ["/nowhere"] = '"cargo" is not on PATH' }) do
      local nvim = T.child({ env = { SUPERPOWER_NATIVE = "/nowhere/lib.so", PATH = path } })
      nvim:cmd("checkhealth superpower")
      contains(nvim:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')"), words)
    end
    local bin = T.dir()
    T.write(bin .. "/cargo", "#!/bin/sh\nexit 1\n")
    vim.fn.setfperm(bin .. "/cargo", "rwxr-xr-x")
    local nvim = T.child({ env = { SUPERPOWER_NATIVE = "/nowhere/lib.so", PATH = bin } })
    nvim:cmd("checkhealth superpower")
    contains(
      nvim:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')"),
      '"cargo" does not work'
    )
  end)
end)

describe("the demo", function()
  it("plays once, also where `:restart` starts Neovim again with the same arguments", function()
    local dir = Shop.project(T.dir())
    local env =
      { DEMO_RUN = "bugfix issue_number=7 description='a total'", DEMO_PACE = "0.02", SUPERPOWER_NATIVE = T.library() }
    local function play()
      local nvim =
        T.child({ plugin = false, cwd = dir, env = env, args = { "-u", T.root .. "/examples/demo/init.lua" } })
      nvim.project = dir
      return nvim
    end
    if not T.library() then
      T.skip("the library is not built")
    end
    local function runs()
      return #vim.fn.glob(dir .. "/.claude/state/runs/*", false, true)
    end
    local nvim = play()
    T.wait(function()
      return runs() == 1
    end, 10000, "the run")
    Shop.state(nvim, "paused")
    nvim:quit()
    nvim = play()
    nvim:wait("vim.v.vim_did_enter == 1")
    vim.uv.sleep(300)
    eq(1, runs())
  end)
end)

describe("the library that the demo needs", function()
  local function checkout(cargo, built)
    local dir = T.dir()
    for _, file in ipairs({ "scripts/lib.sh", "scripts/library.sh", "scripts/build.sh", "scripts/install-library.sh" }) do
      T.write(dir .. "/" .. file, T.read(T.root .. "/" .. file))
      vim.fn.setfperm(dir .. "/" .. file, "rwxr-xr-x")
    end
    if built then
      T.write(dir .. "/lib/libsuperpower.so", "built")
      vim.uv.fs_utime(dir .. "/lib/libsuperpower.so", 2000, 2000)
    end
    for _, file in ipairs({ "src/lib.rs", "build.rs", "Cargo.toml", "Cargo.lock" }) do
      T.write(dir .. "/" .. file, "")
      vim.uv.fs_utime(dir .. "/" .. file, 1000, 1000)
    end
    vim.uv.fs_utime(dir .. "/src", 1000, 1000)
    T.write(dir .. "/bin/cargo", "#!/bin/sh\n" .. cargo .. "\n")
    vim.fn.setfperm(dir .. "/bin/cargo", "rwxr-xr-x")
    return dir
  end
  local function run(dir)
    return T.sh({ dir .. "/scripts/library.sh" }, { env = { PATH = dir .. "/bin:/usr/bin:/bin", HOME = dir } })
  end
  local broken = 'echo "rustup could not choose a version" >&2; exit 1'

  it("is the one that is built, without a tool chain", function()
    local done = run(checkout(broken, true))
    eq({ 0, "" }, { done.code, done.stderr })
  end)

  it("is that one even if its sources are newer, and says so", function()
    local dir = checkout(broken, true)
    vim.uv.fs_utime(dir .. "/src/lib.rs", 3000, 3000)
    local done = run(dir)
    eq(0, done.code)
    contains(done.stderr, "is used as it is")
  end)

  it("is reported as missing, with the output of cargo", function()
    local done = run(checkout(broken, false))
    eq(1, done.code)
    contains(done.stderr, "cargo does not work: rustup could not choose a version; install Rust")
  end)
end)
