-- Runs everything that the README and the help page tell users to type: every command, with the real engine in the example
-- shop; every shell line that starts Neovim; every Lua, Vim and YAML block; every `make` target.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, ok, contains = T.describe, T.it, T.eq, T.ok, T.contains

local pages = {
  ["README.md"] = T.read(T.root .. "/README.md"),
  ["doc/superpower.txt"] = T.read(T.root .. "/doc/superpower.txt"),
}

--- The blocks of a language: ```lang … ``` and, in help pages, >lang … <.
---@param page string
---@param lang string
---@return string[]
local function blocks(page, lang)
  local found, inside, fence = {}, nil, nil
  for _, line in ipairs(vim.split(page, "\n", { plain = true })) do
    if inside then
      local ends = fence == "```" and line:match("^```") or fence == ">" and line:match("^%S")
      if ends then
        table.insert(found, table.concat(inside, "\n"))
        inside = nil
      else
        table.insert(inside, line)
      end
    elseif line == "```" .. lang then
      inside, fence = {}, "```"
    elseif line:match("%f[>%w]>" .. lang .. "$") then
      inside, fence = {}, ">"
    end
  end
  return found
end

--- Every `:Superpower …` of a page that can be typed without changes, once each.
---@param page string
---@return string[]
local function commands(page)
  local found, seen = {}, {}
  local function add(line)
    line = vim.trim(line)
    if not seen[line] and not line:find("[%[…|]") and not line:find("%u%u%u") then
      seen[line] = true
      table.insert(found, line)
    end
  end
  for line in page:gmatch("`:(Superpower[^`\n]*)`") do
    add(line)
  end
  for line in ("\n" .. page):gmatch("\n *:(Superpower[^\n]*)") do
    add((line:gsub(" +%*.*$", "")))
  end
  return found
end

--- Brings the project into a state in which the verb makes sense.
local staged = {
  gate = { approve = true, changes = true, reject = true, gate = true, why = true, progress = true, resume = true },
  failed = { retry = true, skip = true },
  runs = { pause = true, cancel = true },
}
local env = {
  failed = { DEMO_FAIL = "qa" },
  runs = { DEMO_STALL = "qa" },
}
local start = [[bugfix issue_number=7 description="a broken total"]]

---@param verb string
local function child(verb)
  local wanted
  for state, verbs in pairs(staged) do
    wanted = verbs[verb] and state or wanted
  end
  local nvim = Shop.child({ env = env[wanted] or {} })
  for _, agent in ipairs({ "planner", "builder", "reviewer" }) do
    T.write(nvim.project .. "/.claude/agents/" .. agent .. ".md", "---\nname: " .. agent .. "\n---\nDo it.\n")
  end
  if wanted then
    Shop.start(nvim, start)
    Shop.state(nvim, wanted == "runs" and "running" or "paused")
  end
  if wanted == "gate" then
    nvim:wait("require('superpower.gate').is_open()")
    nvim:cmd("close")
  end
  nvim:lua([[
    _G.faults = {}
    vim.notify = function(words, level)
      if level == vim.log.levels.ERROR then table.insert(_G.faults, words) end
    end
    vim.ui.select = function(items, _, done) done(items[1], 1) end
  ]])
  return nvim
end

for name, page in pairs(pages) do
  describe("every command of " .. name, function()
    local found = commands(page)
    it("is found", function()
      ok(#found >= 5, vim.inspect(found))
    end)
    for _, line in ipairs(found) do
      it("can be typed: " .. line, function()
        local verb = line:match("^Superpower (%S+)") or "dashboard"
        local nvim = child(verb)
        local yaml = blocks(pages["README.md"], "yaml")[1]
        if verb ~= "new" then
          T.write(nvim.project .. "/.claude/superpowers/ship-it.yaml", yaml .. "\n")
        end
        line = line:gsub(" comment$", " make it smaller")
        nvim:feed(":" .. line:gsub("<", "<lt>") .. "<CR>")
        vim.uv.sleep(150)
        nvim:wait("vim.api.nvim_get_mode().blocking == false")
        eq({}, nvim:lua("return _G.faults"))
        eq("", nvim:eval("v:errmsg"))
      end)
    end
  end)
end

describe("the README's table of commands", function()
  it("names exactly the sub-commands that exist", function()
    local nvim = T.child()
    local known = nvim:lua("return vim.tbl_map(function() return true end, require('superpower.commands.subcommands'))")
    known.dashboard = nil
    local rows = pages["README.md"]:match("| `:Superpower …` | |\n(.-)\n\n")
    for cell in rows:gmatch("\n| ([^|]+) |") do
      for word in cell:gmatch("`(%l+)") do
        ok(known[word] ~= nil, word)
        known[word] = false
      end
    end
    for word, missing in pairs(known) do
      ok(not missing, word .. " is not in the table")
    end
  end)

  it("names only help tags that exist", function()
    local tags = pages["doc/superpower.txt"]
    for tag in pages["README.md"]:gmatch(":help (superpower[%w%-]*)") do
      contains(tags, "*" .. tag .. "*")
    end
  end)
end)

--- The verbs of the program with which a line of the pages may begin.
local typed = { run = true, approve = true, status = true, attach = true, driver = true }

describe("every line for a shell", function()
  for name, page in pairs(pages) do
    it("that starts Neovim ends as described, in " .. name, function()
      local nvim = Shop.child()
      local init = T.write(T.dir() .. "/init.lua", Shop.config .. ("\nvim.opt.runtimepath:prepend(%q)"):format(T.root))
      local count = 0
      for line in page:gmatch("\n *(nvim %-%-headless [^\n]+)") do
        count = count + 1
        local rest = line:gsub("^nvim", "")
        local done = vim
          .system({
            "sh",
            "-c",
            ('exec env -u SUPERPOWER_RUN_ID "$0" -n -i NONE -u "$1" %s </dev/null'):format(rest),
            vim.v.progpath,
            init,
          }, {
            cwd = nvim.project,
            text = true,
            timeout = 30000,
            env = { SUPERPOWER_NATIVE = T.library(), XDG_STATE_HOME = T.state(), DEMO_PACE = "0" },
          })
          :wait()
        ok(done.code == 0 or done.code == 3, ("%s: %d\n%s"):format(line, done.code, done.stderr))
      end
      ok(count >= 2)
    end)
  end

  for name, page in pairs(pages) do
    it("that starts the program ends as described, in " .. name, function()
      local path = vim.fs.joinpath(vim.fs.dirname(assert(vim.uv.fs_realpath(T.library()))), "superpower")
      if vim.fn.executable(path) == 0 then
        T.skip("the program is not built")
      end
      local nvim, home, bin = Shop.child(), T.dir(), T.dir()
      assert(vim.uv.fs_symlink(path, bin .. "/superpower"))
      local agent = { T.root .. "/examples/demo/agent", "{agent}{skill}" }
      local config = { trust = "always", harness = "command", harnesses = { command = { cmd = agent } } }
      T.write(home .. "/config/superpower/config.json", vim.json.encode(config))
      local count = 0
      for line in page:gmatch("\n *(superpower %l[^\n]+)") do
        if typed[line:match("^superpower (%l+)")] and not line:find("%u%u%u") then
          count = count + 1
          local done = vim
            .system({ "sh", "-c", "unset SUPERPOWER_RUN_ID; " .. line .. " </dev/null" }, {
              cwd = nvim.project,
              text = true,
              timeout = 30000,
              env = {
                PATH = bin .. ":" .. vim.env.PATH,
                HOME = home,
                XDG_CONFIG_HOME = home .. "/config",
                XDG_STATE_HOME = home .. "/state",
                XDG_RUNTIME_DIR = home,
                USER = "ann",
                DEMO_PACE = "0",
              },
            })
            :wait()
          ok(done.code == 0 or done.code == 3, ("%s: %d\n%s"):format(line, done.code, done.stderr))
        end
      end
      ok(count >= 2, count)
    end)
  end

  it("that calls make names a target that exists", function()
    local makefile = T.read(T.root .. "/Makefile")
    local text = pages["README.md"] .. pages["doc/superpower.txt"] .. T.read(T.root .. "/CONTRIBUTING.md")
    local count = 0
    for target in text:gmatch("[`\n ]make ([%l%-]+)[` \n]") do
      if text:find("`make " .. target, 1, true) or text:find("\n *make " .. target:gsub("%-", "%%-")) then
        ok(makefile:find("\n" .. target:gsub("%-", "%%-") .. ":"), target)
        count = count + 1
      end
    end
    ok(count >= 8, count)
  end)
end)

-- The sample in the help page shows all keys together, even those that exclude each other.
local shown_at_once = { ["unknown-stage"] = true, ["unknown-dependency"] = true, ["misplaced-field"] = true }

describe("every block", function()
  it("of Lua runs, and its configuration has no problems", function()
    for name, page in pairs(pages) do
      for _, code in ipairs(blocks(page, "lua")) do
        local nvim = Shop.child({ init = "" })
        local said = nvim:lua(
          [[
          local code = ...
          if code:find("PackChanged", 1, true) and vim.fn.has("nvim-0.12") == 0 then return nil end
          local chunk = loadstring("return " .. code) or loadstring(code) or loadstring("return {" .. code .. "}")
          if not chunk then return select(2, loadstring(code)) end
          vim.pack = vim.pack or {}
          local fine, err = pcall(chunk)
          if not fine then return err end
          local faults = require("superpower.config").problems()
          return #faults > 0 and table.concat(faults, "\n") or nil
        ]],
          code
        )
        eq(nil, said, name .. ":\n" .. code)
        nvim:stop()
      end
    end
  end)

  it("of Vim script runs", function()
    for name, page in pairs(pages) do
      for _, code in ipairs(blocks(page, "vim")) do
        if not code:find(":Superpower", 1, true) then
          local nvim = Shop.child()
          nvim:lua("vim.cmd(...)", vim.trim(code))
          eq("", nvim:eval("v:errmsg"), name)
        end
      end
    end
  end)

  it("of YAML that is a whole declaration has no error", function()
    local nvim = Shop.child()
    local count = 0
    for _, page in pairs(pages) do
      for _, code in ipairs(blocks(page, "yaml")) do
        if code:match("^%s*name:") then
          count = count + 1
          local text = vim.startswith(code, "    ") and ("\n" .. code):gsub("\n    ", "\n"):sub(2) or code
          local faults = nvim:lua("return require('superpower').check(...)", text .. "\n")
          for _, fault in ipairs(faults) do
            ok(fault.severity ~= 1 or shown_at_once[fault.code], vim.inspect(fault))
          end
        end
      end
    end
    eq(2, count)
  end)
end)
