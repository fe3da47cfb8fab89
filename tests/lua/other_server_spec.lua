-- Together with the real yaml-language-server, if `scripts/peer.sh` has installed it (`make bench` does).
local T = require("harness")
local describe, it, eq, contains, lacks = T.describe, T.it, T.eq, T.contains, T.lacks

local TEXT = [[
name: flow
description: One line
version: "1.0.0"
stages:
  - agent: spec-kit
    gate: human-approval
]]

local function program()
  return vim.fn.glob(T.root .. "/.deps/peer-*/node_modules/.bin/yaml-language-server", false, true)[1]
end

--- An editor with both servers in the buffer.
local function editor()
  if not T.library() then
    T.skip("the library is not built")
  elseif not program() or vim.fn.executable("node") == 0 then
    T.skip("yaml-language-server is not installed")
  end
  local nvim = T.child({
    columns = 110,
    files = {
      [".claude/superpowers/flow.yaml"] = TEXT,
      [".claude/agents/spec-kit.md"] = "---\nname: spec-kit\ndescription: Writes specs\n---\n",
    },
  })
  nvim:cmd("edit .claude/superpowers/flow.yaml")
  nvim:lua(
    [[
      local program, schema = ...
      vim.lsp.start({ name = "yamlls", root_dir = vim.uv.cwd(), cmd = { program, "--stdio" }, settings = {
        yaml = { schemaStore = { enable = false, url = "" }, schemas = { [schema] = "/.claude/superpowers/*.yaml" } },
        redhat = { telemetry = { enabled = false } },
      } })
    ]],
    program(),
    "file://" .. T.root .. "/schema/superpower.schema.json"
  )
  nvim:wait("#vim.lsp.get_clients({ bufnr = 0 }) == 2", 20000)
  -- The server reads the schema after a while, so it is asked again.
  nvim:wait("require('superpower.lsp.other_server').offers_keys(vim.api.nvim_get_current_buf())", 20000)
  return nvim
end

--- The number of times that a text is on the screen.
local function count(nvim, text)
  return select(2, nvim:text():gsub(vim.pesc(text), ""))
end

describe("yaml-language-server in the same buffer", function()
  it("has its keys and words offered once", function()
    local nvim = editor()
    nvim:feed("Go    <C-x><C-o>")
    nvim:wait("vim.fn.pumvisible() == 1", 10000)
    local function offered()
      local words =
        nvim:lua("return vim.tbl_map(function(item) return item.abbr end, vim.fn.complete_info({'items'}).items)")
      table.sort(words)
      return words
    end
    local keys = offered()
    eq(vim.fn.uniq(vim.deepcopy(keys)), keys)
    contains(table.concat(keys, " "), "max_attempts")
    nvim:feed("<C-e><Esc>u")
    nvim:cmd("6s/human-approval/")
    nvim:feed("A<C-x><C-o>")
    nvim:wait("vim.fn.pumvisible() == 1", 10000)
    eq({ "auto", "human-approval" }, offered())
    nvim:feed("<C-e><Esc>u")
    -- Only our server knows what a schema cannot express.
    nvim:cmd("5s/spec-kit/")
    nvim:feed("A<C-x><C-o>")
    nvim:wait("vim.fn.getline(5) == '  - agent: spec-kit'", 10000, "the only one to be inserted")
  end)

  it("explains a key once", function()
    local nvim = editor()
    nvim:cmd("call cursor(6, 6)")
    nvim:lua("vim.lsp.buf.hover()")
    nvim:wait_screen("waits for a human, after", 10000)
    eq(1, count(nvim, "waits for a human, after"))
    lacks(nvim:text(), "· a word")
    nvim:feed("5G14|")
    nvim:wait_no_screen("Source: [superpower")
    nvim:lua("vim.lsp.buf.hover()")
    nvim:wait_screen("Writes specs", 10000)
  end)
end)
