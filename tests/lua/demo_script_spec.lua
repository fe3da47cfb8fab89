-- `make demo-headless`: the script that plays the demo without a terminal.

local T = require("harness")
local describe, it, eq, ok, matches = T.describe, T.it, T.eq, T.ok, T.matches

describe("the demo without a terminal", function()
  it("prints the log's lines and ends with status 0", function()
    local dir = T.dir()
    local result = T.sh({ T.root .. "/scripts/demo.sh", "--headless" }, {
      timeout = 60000,
      env = {
        NVIM = vim.v.progpath,
        DEMO_DIR = dir,
        DEMO_PACE = "0.05",
        HARNESS = "command",
        SUPERPOWER_NATIVE = require("harness.child").library(T.root),
      },
    })
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
  end)
end)
