-- What an agent that floods costs the editor, measured in child Neovims: how fast its stream is read, how long the main
-- loop stands still meanwhile, how many snapshots reach it. Beside it, in the same run, the way without an engine:
-- `vim.system`, and each line decoded on the main loop. `nvim -l scripts/bench-stream.lua [MEGABYTES]`.

local root = vim.fn.fnamemodify(arg[0], ":p:h:h")
package.path = root .. "/tests/lua/?.lua;" .. root .. "/tests/lua/?/init.lua;" .. package.path
local T = require("harness")

local megabytes = tonumber(arg[1]) or 256
local LINE = table.concat({
  '{"type":"stream_event","event":{"type":"content_block_delta","index":0,',
  '"delta":{"type":"text_delta","text":"some words %06d "}},',
  '"session_id":"b2cdf703-1aae-428c-82e4-79b92ed174f4","uuid":"x"}\n',
})

local block = {}
for index = 1, 1000 do
  block[index] = LINE:format(index)
end
local text = table.concat(block)
local times = math.floor(megabytes * 1048576 / #text)
local lines = times * #block

-- It shakes hands as Claude Code does, floods, and ends with a result.
local agent = ([[
#!/bin/sh
say() { printf '%%s\n' "$1"; }
if [ "$1" != bare ]; then
  read -r line
  say '{"type":"control_response","response":{"subtype":"success","request_id":"superpower-initialize","response":{}}}'
  read -r line
fi
i=0
while [ $i -lt %d ]; do cat "${0%%/*}/block"; i=$((i+1)); done
say '{"type":"result","subtype":"success","is_error":false,"result":"done","num_turns":1}'
[ "$1" = bare ] || cat >/dev/null
]]):format(times)

-- Runs in the child. `_G.watch()` begins to watch the main loop, `_G.seen()` says what was seen since.
local WATCH = [[
  local from, cpu, last, gaps
  local timer = vim.uv.new_timer()
  local function spent()
    local used = vim.uv.getrusage()
    return used.utime.sec + used.stime.sec + (used.utime.usec + used.stime.usec) / 1e6
  end
  function _G.watch()
    from, cpu, last, gaps = vim.uv.hrtime(), spent(), vim.uv.hrtime(), {}
    timer:start(0, 1, function()
      local now = vim.uv.hrtime()
      gaps[#gaps + 1], last = (now - last) / 1e6, now
    end)
  end
  function _G.seen()
    timer:stop()
    table.sort(gaps)
    local function at(share) return gaps[math.max(1, math.ceil(#gaps * share))] end
    return { seconds = (vim.uv.hrtime() - from) / 1e9, cpu = spent() - cpu, p50 = at(0.5), p99 = at(0.99), worst = gaps[#gaps] }
  end
]]

local OURS = [[
  local program = ...
  require("superpower").setup({
    harness = "claude", trust = "always", max_output = 1048576, harnesses = { claude = { cmd = { program } } },
  })
  local stamps, done = {}, nil
  require("superpower.events").tap("bench", function(event)
    if event.type == "snapshot" then stamps[#stamps + 1] = vim.uv.hrtime() end
    if event.type == "run-finished" or event.type == "run-paused" then done = event end
  end)
  _G.watch()
  require("superpower").run("flood", {})
  function _G.over()
    if not done then return end
    local seen = _G.seen()
    seen.ended = done.state or done.reason
    local most, first = 0, 1
    for index, stamp in ipairs(stamps) do
      while stamp - stamps[first] >= 1e9 do first = first + 1 end
      most = math.max(most, index - first + 1)
    end
    seen.snapshots = most
    return seen
  end
]]

local PEER = [[
  local program = ...
  local done, rest, shown, read = false, "", "", 0
  _G.watch()
  vim.system({ program, "bare" }, {
    stdout = function(_, data)
      if not data then return end
      vim.schedule(function()
        local from, whole = 1, rest .. data
        while true do
          local to = whole:find("\n", from, true)
          if not to then break end
          local line = vim.json.decode(whole:sub(from, to - 1))
          if line.type == "stream_event" then shown = line.event.delta.text end
          if line.type == "result" then done = true end
          read, from = read + 1, to + 1
        end
        rest = whole:sub(from)
      end)
    end,
  })
  function _G.over()
    if not done then return end
    local seen = _G.seen()
    seen.ended = ("%d lines"):format(read)
    return seen
  end
]]

local IDLE = [[
  _G.watch()
  local from = vim.uv.hrtime()
  function _G.over()
    return vim.uv.hrtime() - from > 3e9 and _G.seen() or nil
  end
]]

local function say(what, seen, count)
  local rate = count and ("%9.0f %9.0f"):format(count / seen.seconds, count / seen.cpu) or (" "):rep(19)
  local snapshots = seen.snapshots and ("%6d"):format(seen.snapshots) or (" "):rep(6)
  local told = ("%-46s %s %8.2f %8.2f %8.2f %s  %s"):format(
    what,
    rate,
    seen.p50,
    seen.p99,
    seen.worst,
    snapshots,
    seen.ended or ""
  )
  io.stdout:write(vim.trim(told), "\n")
end

--- Plays one of them, and waits until it is over.
local function played(nvim, chunk)
  nvim:lua(chunk, nvim.project .. "/agent")
  for _ = 1, 3000 do
    local seen = nvim:lua("return _G.over() or false")
    if seen then
      return seen
    end
    vim.uv.sleep(100)
  end
  error("it does not end")
end

local function child()
  local nvim = T.child({
    files = {
      ["block"] = text,
      ["agent"] = agent,
      [".claude/agents/flood.md"] = "---\nname: flood\ndescription: floods\n---\nFlood.\n",
      [".claude/superpowers/flood.yaml"] = 'name: flood\ndescription: Floods\nversion: "1.0.0"\nstages:\n  - agent: flood\n    description: Flood\n',
    },
  })
  vim.uv.fs_chmod(nvim.project .. "/agent", tonumber("755", 8))
  nvim:lua(WATCH)
  return nvim
end

io.stdout:write(("an agent that floods: %d MB, %d lines\n"):format(megabytes, lines))
io.stdout:write(
  ("%-46s %9s %9s %8s %8s %8s %6s\n"):format("", "lines/s", "/s of CPU", "gap p50", "gap p99", "worst ms", "shown/s")
)
local nvim = child()
say("the main loop with nothing to do", played(nvim, IDLE))
say("through the engine", played(nvim, OURS), lines)
nvim:stop()
nvim = child()
say("vim.system, decoded on the main loop", played(nvim, PEER), lines)
nvim:stop()
