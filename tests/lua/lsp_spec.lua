-- The language server in a declaration's buffer, with the real engine and typed keys.
local T = require("harness")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local FLOW = [[
name: flow
description: One line
version: "1.0.0"
inputs:
  - name: scope
    type: enum
    enum: [full, tokens-only]
    default: full
  - name: epic
    required: true
stages:
  - name: plan
    agent: spec-kit
    description: "Plan {{epic}}"
    inputs: {epic: "{{epic}}"}
  - name: build
    skill: scaffold
    when: "{{scope}} == full && story.ui_true"
    depends_on: [plan]
    description: |
      After {{stages.plan.result}} of {{epic}}
    gate: human-approval
    rework: plan
]]

local FILES = {
  [".claude/agents/spec-kit.md"] = "---\nname: spec-kit\ndescription: Writes specs\n---\nYou write specs.\n",
  [".claude/agents/qa.md"] = "---\nname: qa\ndescription: Tests\n---\nYou test.\n",
  [".claude/skills/scaffold/SKILL.md"] = "---\nname: scaffold\ndescription: Makes files\n---\nDo.\n",
  ["docs/stories/login.md"] = "---\nui: true\n---\nLogin\n",
}

--- An editor with the declaration open and the server attached.
local function editor(text, opts)
  if not T.library() then
    T.skip("the library is not built")
  end
  opts = opts or {}
  opts.files = vim.tbl_extend("force", FILES, { [".claude/superpowers/flow.yaml"] = text or FLOW }, opts.files or {})
  opts.columns = opts.columns or 110
  local nvim = T.child(opts)
  nvim:cmd("edit .claude/superpowers/flow.yaml")
  if opts.served ~= false then
    nvim:wait(
      "#vim.lsp.get_clients({ bufnr = 0, name = 'superpower' }) == 1 and vim.lsp.get_clients({bufnr=0})[1].initialized"
    )
    nvim:lua(
      "require('superpower.lsp.server').each(function(d) vim.wait(3000, function() return d.tick ~= nil end, 2) end)"
    )
  end
  return nvim
end

--- The diagnostics as `code line:column-column`, sorted by position.
local function faults(nvim)
  return nvim:lua([[
    local out = {}
    for _, d in ipairs(vim.diagnostic.get(0)) do
      out[#out + 1] = ("%s %d:%d-%d"):format(d.code, d.lnum + 1, d.col, d.end_col)
    end
    return out
  ]])
end

local function wait_faults(nvim, expected)
  local found
  local fine = vim.wait(5000, function()
    found = faults(nvim)
    return vim.deep_equal(expected, found)
  end, 10)
  if not fine then
    eq(expected, found)
  end
end

--- Puts the cursor on the first letter of `text` in line `line`, or anywhere.
local function at(nvim, text, offset)
  nvim:lua(
    [[local text, offset = ...
      vim.fn.cursor(1, 1)
      assert(vim.fn.search("\\V" .. text, "cW") > 0, text)
      if offset > 0 then vim.fn.cursor(vim.fn.line("."), vim.fn.col(".") + offset) end]],
    text,
    offset or 0
  )
end

local function buffer(nvim)
  return nvim:lua("return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') .. '\\n'")
end

--- The completions of <C-x><C-o> at the cursor, in insert mode.
local function offered(nvim, keys)
  nvim:feed(keys .. "<C-x><C-o>")
  nvim:wait("vim.fn.pumvisible() == 1", 3000)
  return nvim:lua("return vim.tbl_map(function(item) return item.abbr end, vim.fn.complete_info({ 'items' }).items)")
end

describe("a declaration in a buffer", function()
  it("has its problems underlined while it is typed", function()
    local nvim = editor()
    eq({}, faults(nvim))
    at(nvim, "human-approval")
    nvim:feed("ea<BS>")
    wait_faults(nvim, { "unknown-gate 22:10-23" })
    eq("i", nvim:mode().mode, "still typing")
    local fault = nvim:lua("return vim.diagnostic.get(0)[1]")
    eq({ "superpower", 1 }, { fault.source, fault.severity })
    contains(fault.message, [[did you mean "human-approval"?]])
    nvim:feed("n")
    wait_faults(nvim, {})
    nvim:feed("<Esc>u")
    nvim:feed("<C-r>")
    nvim:wait("vim.api.nvim_get_mode().mode == 'n'")
    wait_faults(nvim, {})
    nvim:cmd("%s/agent:/agnt:/ | %s/depends_on/depend_on/")
    wait_faults(nvim, { "empty-stage 12:4-14", "unknown-field 13:4-8", "unknown-field 19:4-13" })
    nvim:cmd("silent undo")
    wait_faults(nvim, {})
    nvim:cmd("edit!")
    wait_faults(nvim, {})
  end)

  it("shows a problem on the screen, as the user has configured", function()
    local nvim = editor(nil, { init = "vim.diagnostic.config({ virtual_text = true, update_in_insert = true })" })
    at(nvim, "human-approval")
    nvim:feed("Chuman_approval<Esc>")
    nvim:wait_screen('did you mean "human-approval"')
    eq({}, nvim:lua("return vim.fn.maparg('K', 'n', false, true).rhs or {}"), "no maps of ours")
  end)

  it("counts columns with characters beyond ASCII", function()
    local nvim = editor((FLOW:gsub("One line", '"ä𝄞 {{nope}} ä"'):gsub('"Plan {{epic}}"', '"ä𝄞 {{nope}} ä"')))
    wait_faults(nvim, { "undefined-variable 14:25-33" })
  end)

  it("completes with the keys of Neovim", function()
    local nvim = editor()
    at(nvim, "depends_on")
    local keys = offered(nvim, "O")
    eq({ "inputs", "harness", "timeout", "max_attempts", "expects" }, keys)
    nvim:feed("<C-e><Esc>u")
    at(nvim, "spec-kit")
    eq({ "qa", "spec-kit" }, offered(nvim, "C"))
    nvim:feed("<C-y>")
    nvim:wait("vim.api.nvim_get_current_line() == '    agent: qa'")
    nvim:feed("<Esc>u")
    at(nvim, "human-approval")
    eq({ "human-approval", "auto" }, offered(nvim, "C"))
    nvim:feed("<Esc>u")
    at(nvim, "epic}}")
    eq({ "scope", "epic" }, offered(nvim, "ct}"))
    nvim:feed("<Esc>u")
    at(nvim, "story.ui_true")
    contains(table.concat(offered(nvim, 'ct"'), " "), "story.ui_true branch.not_spike")
  end)

  it("inserts the whole item, with blanks and lines", function()
    local nvim = editor(nil, { init = "vim.o.completeopt = 'menuone'" })
    local function chosen(keys, label)
      nvim:feed(keys .. "<C-x><C-o>")
      nvim:wait("vim.fn.pumvisible() == 1", 3000)
      local index = nvim:lua(
        [[local label = ...
          for index, item in ipairs(vim.fn.complete_info({ "items" }).items) do
            if item.abbr == label then return index end
          end]],
        label
      )
      nvim:feed(("<C-n>"):rep(index - 1) .. "<C-y>")
    end
    local function line(text)
      nvim:wait(("vim.api.nvim_get_current_line() == %q"):format(text), 3000)
    end
    nvim:cmd("18s/when:.*/when: /")
    chosen("A", "{{scope}} == full")
    line('    when: "{{scope}} == full"')
    nvim:feed("<Esc>Ohar")
    chosen("", "harness")
    line("    harness: ")
    chosen("", "opencode")
    line("    harness: opencode")
    nvim:feed("<Esc>")
    at(nvim, "rework")
    nvim:feed("Oexp")
    chosen("", "expects")
    if nvim:lua("return vim.fn.has('nvim-0.11') == 0") then
      return line("    expects:")
    end
    line("      ")
    eq("    expects:", nvim:lua("return vim.fn.getline(vim.fn.line('.') - 1)"))
    chosen("", "verdict")
    line("      verdict: ")
  end)

  it("explains a word", function()
    local nvim = editor()
    at(nvim, "spec-kit")
    nvim:lua("vim.lsp.buf.hover()")
    nvim:wait_screen("Writes specs")
    nvim:feed("<C-w>w<C-w>c")
    nvim:cmd("silent! fclose")
    at(nvim, "story.ui_true")
    nvim:lua("vim.lsp.buf.hover()")
    nvim:wait_screen("now true: docs/stories/login.md has ui: true")
  end)

  it("jumps to agents, skills, inputs and stages", function()
    local nvim = editor()
    local function jumps(text, file, row)
      at(nvim, text)
      nvim:lua("vim.lsp.buf.definition()")
      local expected = nvim.project .. "/" .. file .. ":" .. row
      nvim:wait(("vim.api.nvim_buf_get_name(0) .. ':' .. vim.fn.line('.') == %q"):format(expected), 3000)
      nvim:cmd("edit .claude/superpowers/flow.yaml")
    end
    jumps("spec-kit", ".claude/agents/spec-kit.md", 1)
    jumps("scaffold", ".claude/skills/scaffold/SKILL.md", 1)
    jumps('epic}}"', ".claude/superpowers/flow.yaml", 9)
    jumps("plan]", ".claude/superpowers/flow.yaml", 12)
    jumps("plan.result", ".claude/superpowers/flow.yaml", 12)
    at(nvim, "plan.result")
    nvim:feed("<C-]>")
    nvim:wait("vim.fn.line('.') == 12")
  end)

  it("lists every place of a name, and renames them all", function()
    local nvim = editor()
    at(nvim, 'epic}}"')
    nvim:lua("vim.lsp.buf.references()")
    nvim:wait("#vim.fn.getqflist() == 4")
    eq({ 9, 14, 15, 21 }, nvim:lua("return vim.tbl_map(function(item) return item.lnum end, vim.fn.getqflist())"))
    nvim:cmd("cclose")
    nvim:lua("vim.lsp.buf.rename('story')")
    nvim:wait("vim.fn.search('epic') == 0 or vim.fn.getline(15):find('story')")
    eq((FLOW:gsub("{{epic}}", "{{story}}"):gsub("name: epic", "name: story")), buffer(nvim))
    wait_faults(nvim, {})
    at(nvim, "plan.result")
    nvim:lua("vim.lsp.buf.rename('the plan')")
    nvim:wait_screen("invalid stage name")
    at(nvim, "plan.result")
    nvim:lua("vim.lsp.buf.rename('think')")
    nvim:wait("vim.fn.search('rework: think') > 0")
    local text = buffer(nvim)
    contains(text, "name: think")
    contains(text, "depends_on: [think]")
    contains(text, "{{stages.think.result}}")
  end)

  it("fixes a problem with a code action", function()
    local nvim = editor((FLOW:gsub("human%-approval", "human_approval"):gsub('"1.0.0"', "1.0")))
    wait_faults(nvim, { "wrong-type 3:9-12", "unknown-gate 22:10-24" })
    nvim:cmd("22")
    nvim:lua("vim.lsp.buf.code_action({ apply = true })")
    wait_faults(nvim, { "wrong-type 3:9-12" })
    nvim:cmd("3")
    local titles = nvim:lua([[
      local params = vim.lsp.util.make_range_params(0, "utf-16")
      params.context = { diagnostics = {} }
      local answer = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 2000)
      local _, only = next(answer)
      return vim.tbl_map(function(action) return { action.title, action.kind, #action.diagnostics } end, only.result)
    ]])
    eq({ { titles[1][1], "quickfix", 1 } }, titles)
    nvim:lua("vim.lsp.buf.code_action({ apply = true })")
    wait_faults(nvim, {})
    contains(buffer(nvim), 'version: "1.0"\n')
  end)

  it("does not apply a fix to a text that has changed", function()
    local nvim = editor((FLOW:gsub("human%-approval", "human_approval")))
    wait_faults(nvim, { "unknown-gate 22:10-24" })
    nvim:lua([[
      vim.cmd("22")
      local params = vim.lsp.util.make_range_params(0, "utf-16")
      params.context = { diagnostics = {} }
      local _, answer = next(vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 2000))
      vim.api.nvim_buf_set_lines(0, 0, 0, false, { "# one more line" })
      vim.lsp.util.apply_workspace_edit(answer.result[1].edit, "utf-16")
    ]])
    eq("# one more line\n" .. FLOW:gsub("human%-approval", "human_approval"), buffer(nvim))
  end)

  it("has its stages as an outline", function()
    local nvim = editor()
    nvim:lua("vim.lsp.buf.document_symbol()")
    nvim:wait("#vim.fn.getloclist(0) > 0 or #vim.fn.getqflist() > 0")
    local names = nvim:lua([[
      local list = #vim.fn.getloclist(0) > 0 and vim.fn.getloclist(0) or vim.fn.getqflist()
      return vim.tbl_map(function(item) return item.lnum .. " " .. item.text end, list) ]])
    eq(2, #names)
    contains(names[1], "1. Plan {{epic}}")
    contains(names[2], "2. After {{stages.plan.result}} of {{epic}}")
  end)

  it("shows after a stage with a condition what it would do, and why", function()
    local nvim = editor(FLOW .. '  - agent: qa\n    when: "{{scope}} == tokens-only"\n')
    nvim:wait_screen([[would run as of now: scope is "full", docs/stories/login.md has ui: true]])
    nvim:wait_screen([[would skip: scope is "full"]])
    nvim:cmd("8s/full/tokens-only/")
    nvim:wait_screen([[would skip: scope is "tokens-only"]])
    nvim:wait_screen([[would run: scope is "tokens-only"]])
    nvim:cmd("3s/version/vrsion/")
    wait_faults(nvim, { "missing-field 1:0-4", "unknown-field 3:0-6" })
    nvim:wait_screen([[would run: scope is "tokens-only"]])
    nvim:lua("vim.lsp.inlay_hint.enable(false, { bufnr = 0 })")
    nvim:wait_no_screen("would run")
  end)

  it("shows no hints if they are turned off", function()
    local nvim = editor(nil, { init = "vim.g.superpower = { hints = false }" })
    lacks(nvim:text(), "would")
  end)
end)

describe("the project of an open declaration", function()
  it("is read again when a file is created, changed or deleted", function()
    local nvim = editor((FLOW:gsub("spec%-kit", "writer")))
    wait_faults(nvim, { "unknown-agent 13:11-17" })
    local path = T.write(nvim.project .. "/.claude/agents/more/writer.md", "---\ndescription: Writes\n---\n")
    wait_faults(nvim, {})
    at(nvim, "writer")
    nvim:lua("vim.lsp.buf.hover()")
    nvim:wait_screen("Writes")
    vim.fn.delete(path)
    wait_faults(nvim, { "unknown-agent 13:11-17" })
  end)

  it("decides its facts again", function()
    local nvim = editor()
    nvim:wait_screen("would run as of now")
    T.write(nvim.project .. "/docs/stories/login.md", "---\nui: false\n---\n")
    nvim:wait_screen("would skip as of now")
  end)

  it("knows the user's own facts, harnesses and places", function()
    local nvim = editor(nil, {
      served = false,
      init = [[vim.g.superpower = {
        conditions = { ["story.has_api"] = function() return true end },
        harnesses = { mine = { cmd = { "mine" } } },
        places = { "team/flows" },
      }]],
      files = {
        ["team/flows/flow.yaml"] = FLOW:gsub("story.ui_true", "story.has_api")
          :gsub("gate:", "harness: mine\n    gate:"),
        ["team/other.yaml"] = "name: 1\n",
      },
    })
    nvim:cmd("edit team/other.yaml")
    eq(0, nvim:lua("return #vim.lsp.get_clients({ bufnr = 0 })"))
    nvim:cmd("edit team/flows/flow.yaml")
    nvim:wait_screen("decided when reached: story.has_api: your own condition")
    eq({}, faults(nvim))
  end)
end)

describe("a project's other places", function()
  it("are served: declarations of the later dialect, and what other tools describe", function()
    for _, folder in ipairs({ ".claude/taffy", ".opencode/superpowers" }) do
      local nvim = editor(nil, {
        served = false,
        files = {
          [folder .. "/later.yaml"] = FLOW:gsub("name: flow", "name: later", 1)
            :gsub("agent: %S+", "agent: shared", 1)
            :gsub("skill: scaffold", "skill: common"),
          [".github/agents/shared.agent.md"] = "---\ndescription: Copilot's\n---\n",
          [".agents/skills/common/SKILL.md"] = "---\ndescription: For all\n---\n",
        },
      })
      nvim:cmd("edit " .. folder .. "/later.yaml")
      nvim:wait("#vim.lsp.get_clients({ bufnr = 0, name = 'superpower' }) == 1")
      nvim:wait_screen("as of now")
      eq({}, faults(nvim))
      at(nvim, "agent: shared", 8)
      nvim:lua("vim.lsp.buf.definition()")
      nvim:wait("vim.api.nvim_buf_get_name(0):match('shared.agent.md$') ~= nil")
    end
  end)
end)

describe("off switches", function()
  it("prevent all help, or remove it", function()
    local nvim = editor(nil, { served = false, init = "vim.g.superpower_disable = true" })
    eq(0, nvim:lua("return #vim.lsp.get_clients()"))
    ok(nvim:lua("return require('superpower.engine').info() == nil"))
    nvim:feed(":unlet g:superpower_disable<CR>")
    nvim:wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1")
    nvim:cmd("3s/.*/version: 1.0/")
    wait_faults(nvim, { "wrong-type 3:9-12" })
    nvim:feed(":let b:superpower_disable = 1<CR>")
    wait_faults(nvim, {})
    nvim:wait("#vim.lsp.get_clients({ bufnr = 0 }) == 0")
    nvim:feed(":let b:superpower_disable = 0<CR>")
    wait_faults(nvim, { "wrong-type 3:9-12" })
  end)
end)

describe(":Superpower check", function()
  it("fills the quickfix list, from the buffers", function()
    local nvim = editor(nil, {
      files = {
        [".claude/superpowers/other.yaml"] = FLOW:gsub("name: flow", "name: other"):gsub("One line", "{{nope}}"),
      },
    })
    local function list()
      return nvim:lua([[
        return vim.tbl_map(function(item)
          local name = vim.fs.basename(vim.api.nvim_buf_get_name(item.bufnr))
          return ("%s:%d:%d %s"):format(name, item.lnum, item.col, item.text:match("%[(.*)%]"))
        end, vim.fn.getqflist()) ]])
    end
    --- Runs the check, and waits for this list, and for its window if it is not empty.
    local function check(name, wanted)
      nvim:lua("vim.fn.setqflist({}, 'f')")
      nvim:cmd("Superpower check" .. name)
      nvim:wait("vim.fn.getqflist({ title = 0 }).title == 'Superpower check'")
      eq(wanted, list())
      nvim:wait(#wanted > 0 and "vim.bo.buftype == 'quickfix'" or "vim.bo.buftype == ''")
    end
    check("", { "other.yaml:2:14 yaml-syntax" })
    nvim:wait_screen("needs quotes")
    nvim:cmd("cclose | 22s/human/humn/")
    check("", { "flow.yaml:22:11 unknown-gate", "other.yaml:2:14 yaml-syntax" })
    nvim:cmd("cclose")
    check(" flow", { "flow.yaml:22:11 unknown-gate" })
    nvim:cmd("cclose | undo")
    check(" flow", {})
    nvim:cmd("Superpower check flw")
    nvim:wait_screen('did you mean "flow"')
  end)
end)

describe("other files", function()
  it("load nothing", function()
    local nvim = T.child({
      files = {
        ["ci.yaml"] = "a: 1\n",
        [".claude/superpowers/schema.yaml"] = "a: 1\n",
        [".claude/superpowers/notes.md"] = "a: 1\n",
      },
    })
    nvim:cmd("edit ci.yaml | edit .claude/superpowers/notes.md")
    eq(
      {},
      nvim:lua([[return vim.tbl_filter(function(name)
      return vim.startswith(name, "superpower")
    end, vim.tbl_keys(package.loaded))]])
    )
    nvim:cmd("edit .claude/superpowers/schema.yaml")
    nvim:lua("vim.wait(50)")
    eq(0, nvim:lua("return #vim.lsp.get_clients()"))
    ok(nvim:lua("return require('superpower.engine').info() == nil"))
  end)

  it("do not delay leaving the editor", function()
    local nvim = editor()
    local before = vim.uv.hrtime()
    eq(0, nvim:quit())
    ok((vim.uv.hrtime() - before) / 1e6 < 1500)
  end)
end)

describe("a text that is not a declaration", function()
  it("is reported to be in another encoding", function()
    local latin = FLOW:gsub("One line", "\228\246\252")
    local nvim = editor(latin)
    wait_faults(nvim, { "yaml-syntax 1:0-10" })
    contains(nvim:lua("return vim.diagnostic.get(0)[1].message"), 'file encoding is "latin1"')
    nvim:cmd("set fileencoding=utf-8 | write")
    nvim:cmd("edit!")
    wait_faults(nvim, {})
  end)

  it("may hold NULs, invalid bytes, and too much text", function()
    local nvim = editor()
    nvim:lua([[vim.api.nvim_buf_set_lines(0, 1, 2, false, { "description: a\0b" })]])
    wait_faults(nvim, { "yaml-syntax 2:14-15" })
    nvim:lua([[vim.api.nvim_buf_set_lines(0, 1, 2, false, { "description: a\255b {{x" })]])
    wait_faults(nvim, { "yaml-syntax 1:0-10" })
    nvim:lua([[vim.api.nvim_buf_set_lines(0, 1, 2, false, { "# " .. ("x"):rep(1100000), "description: x" })]])
    wait_faults(nvim, { "limit 1:0-0" })
    nvim:cmd("2delete")
    wait_faults(nvim, {})
    ok(nvim:alive())
  end)
end)

describe("a large text", function()
  it("does not delay typing, and shows only the newest diagnostics", function()
    local text = { (FLOW:gsub("\n$", "")) }
    for stage = 1, 1500 do
      text[#text + 1] = ('  - agent: spec-kit\n    name: stage-%d\n    description: "Stage {{epic}} %d"'):format(
        stage,
        stage
      )
    end
    local nvim = editor(table.concat(text, "\n") .. "\n")
    nvim:lua(
      "require('superpower.lsp.server').each(function(d) vim.wait(5000, function() return d.tick ~= nil end, 2) end)"
    )
    eq({}, faults(nvim))
    -- Answers for old texts are dropped.
    nvim:lua([[
      require("superpower.lsp.server").each(function(d)
        d:arrived({ tick = d.tick - 1, diagnostics = { { range = { start = { line = 0, character = 0 },
          ["end"] = { line = 0, character = 1 } }, message = "old", code = "old" } } })
      end)
    ]])
    eq({}, faults(nvim))
    at(nvim, "human-approval")
    local longest = nvim:lua([[
      local longest = 0
      for _ = 1, 20 do
        local from = vim.uv.hrtime()
        vim.api.nvim_feedkeys("ix" .. vim.keycode("<Esc>"), "tx", false)
        vim.wait(1)
        longest = math.max(longest, (vim.uv.hrtime() - from) / 1e6)
      end
      return longest
    ]])
    ok(longest < 200, ("a key took %.1f ms"):format(longest))
    wait_faults(nvim, { "unknown-gate 22:10-44" })
    at(nvim, "stages.plan.result")
    nvim:lua("vim.fn.cursor(0, vim.fn.col('.') + 8) vim.lsp.buf.definition()")
    nvim:wait("vim.fn.line('.') == 12")
  end)
end)

describe("another server for YAML in the same buffer", function()
  it("keeps the keys that its schema has", function()
    local nvim = editor()
    local peer = [[
      local has = ...
      vim.lsp.start({ name = "yamlls", cmd = function(dispatchers)
        return {
          request = function(method, _, callback, done)
            vim.schedule(function()
              if method == "initialize" then callback(nil, { capabilities = { completionProvider = {} } })
              elseif method == "yaml/get/jsonSchema" then callback(nil, has and { { uri = "superpower.schema.json" } } or {})
              else callback(nil, nil) end
              if done then done(1) end
            end)
            return true, 1
          end,
          notify = function() return true end,
          is_closing = function() return false end,
          terminate = function() dispatchers.on_exit(0, 0) end,
        }
      end }, { bufnr = 0 })
      vim.wait(500, function() return require("superpower.lsp.other_server").offers_keys(vim.api.nvim_get_current_buf()) == has end, 5)
    ]]
    local function labels(text)
      at(nvim, text)
      return nvim:lua([[
        local params = vim.lsp.util.make_position_params(0, "utf-16")
        local out = {}
        for _, answer in pairs(vim.lsp.buf_request_sync(0, "textDocument/completion", params, 2000)) do
          for _, item in ipairs((answer.result or {}).items or {}) do out[#out + 1] = item.label end
        end
        return out
      ]])
    end
    nvim:lua(peer, false)
    eq("spec-kit", labels("spec-kit")[2])
    ok(#labels("depends_on") > 3)
    nvim:lua("vim.lsp.stop_client(vim.lsp.get_clients({ name = 'yamlls' }), true)")
    nvim:wait("#vim.lsp.get_clients({ bufnr = 0 }) == 1")
    nvim:lua(peer, true)
    eq("spec-kit", labels("spec-kit")[2])
    eq({}, labels("depends_on"))
  end)
end)
