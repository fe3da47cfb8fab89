-- `make demo-headless`: the script that plays the demo without a terminal.

local T = require("harness")
local describe, it, eq, ok, matches, contains = T.describe, T.it, T.eq, T.ok, T.matches, T.contains

local function demo(dir, ...)
  return T.sh({ T.root .. "/scripts/demo.sh", "--headless", ... }, {
    timeout = 60000,
    env = {
      NVIM = vim.v.progpath,
      DEMO_DIR = dir,
      DEMO_PACE = "0.05",
      HARNESS = "command",
      SUPERPOWER_NATIVE = require("harness.child").library(T.root),
    },
  })
end

describe("the demo without a terminal", function()
  it("prints the log's lines and ends with status 0", function()
    local dir = T.dir()
    local result = demo(dir)
    eq(0, result.code, result.stderr)
    local lines = vim.split(vim.trim(result.stdout), "\n")
    eq("[superpower] LOADED  new-ui-feature  v1.0.0  stages=13", lines[1])
    eq("[superpower] COMPLETE  new-ui-feature", lines[#lines])
    for _, line in ipairs(lines) do
      matches(line, "^%[superpower%] ")
    end
    local count = function(word)
      return #vim.tbl_filter(function(line)
        return line:find("[superpower] " .. word, 1, true) == 1
      end, lines)
    end
    eq({ 4, 4, 4, 9 }, { count("GATE"), count("APPROVED"), count("PAUSED"), count("DISPATCH") })
    ok(T.exists(dir .. "/shop/docs/design/a11y/reset-password.md"))
    -- A second time: the same copy, with the seals of the first.
    result = demo(dir, "bugfix")
    eq(0, result.code, result.stderr)
    contains(result.stdout, "[superpower] COMPLETE  bugfix")
    ok(T.exists(dir .. "/shop/docs/design/a11y/reset-password.md"))
    ok(not T.exists(dir .. "/shop/shop"))
  end)
end)

describe("the demo in a terminal", function()
  it("is played by keys to its end, with a change asked for on the way", function()
    if T.sh({ "sh", "-c", "command -v tmux" }).code ~= 0 then
      T.skip("tmux is not there")
    end
    local dir = T.dir()
    local result = T.sh({ T.root .. "/scripts/picture.sh", dir }, {
      timeout = 150000,
      env = {
        NVIM = vim.v.progpath,
        DEMO_PACE = "0.8",
        HARNESS = "command",
        SUPERPOWER_NATIVE = require("harness.child").library(T.root),
      },
    })
    eq(0, result.code, result.stderr)
    for _, name in ipairs({ "demo", "dashboard", "plan" }) do
      contains(T.read(dir .. "/" .. name .. ".svg"), "</svg>")
    end
  end)
end)
