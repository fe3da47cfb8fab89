-- A stage's output: readable, raw on a key, followed while it grows, and never interpreted as commands.
local T = require("harness")
local S = require("support.scripted")
local describe, it, eq, ok, contains, lacks = T.describe, T.it, T.eq, T.ok, T.contains, T.lacks

local claude = table.concat({
  [[{"type":"system","subtype":"init","session_id":"abc","model":"opus"}]],
  [[{"type":"assistant","message":{"content":[{"type":"text","text":"I will look.\nThen write."},]]
    .. [[{"type":"tool_use","name":"Bash","input":{"command":"npm test"}}]}}]],
  [[{"type":"user","message":{"content":[{"type":"tool_result","content":"1\n2\n3\n4\n5\n6\n7\n8","is_error":true}]}}]],
  [[{"type":"stream_event","event":{}}]],
  [[{"type":"result","subtype":"success","is_error":false,"result":"All done \u001b[31mred"}]],
  "",
}, "\n")

local function open(content)
  local nvim = S.child()
  local path = T.write(nvim.dir .. "/output.log", content)
  S.answer(nvim, "output", { path = path })
  local run = S.run()
  S.send(nvim, { type = "snapshot", run = run })
  nvim:lua("vim.wait(20)")
  nvim:lua("require('superpower.views.output').open(..., 1, 'output')", nvim.project)
  return nvim, path
end

local function lines(nvim)
  return nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)")
end

describe("a stage's output", function()
  it("is readable, and raw by a key", function()
    local nvim = open(claude)
    eq({
      "· session abc, opus",
      "",
      "I will look.",
      "Then write.",
      "▸ Bash  npm test",
      "  ✗ 1",
      "    2",
      "    3",
      "    4",
      "    5",
      "    6",
      "  … 2 more lines",
      "",
      "■ ended: success",
      "All done ^[[31mred",
    }, lines(nvim))
    nvim:feed("r")
    nvim:wait("vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]:match('subtype') ~= nil")
    nvim:feed("r")
    nvim:wait("vim.api.nvim_buf_get_lines(0, 0, 1, false)[1]:match('^·') ~= nil")
    eq(0, nvim:eval("&modifiable"))
  end)

  it("of OpenCode too", function()
    local nvim = open(table.concat({
      [[{"type":"step_start","part":{}}]],
      [[{"type":"tool_use","part":{"tool":"write","state":{"status":"completed","input":{"filePath":"/p/a.txt"},"output":"Wrote file successfully."}}}]],
      [[{"type":"text","part":{"text":"Done."}}]],
    }, "\n"))
    eq({ "▸ write  /p/a.txt", "    Wrote file successfully.", "", "Done." }, lines(nvim))
  end)

  it("of any program stays as it is, with control characters visible and no modeline", function()
    local nvim = open('plain \27[31mtext\n{"type":3}\n{broken\n// vim: set filetype=evil:\n')
    eq({ "plain ^[[31mtext", '{"type":3}', "{broken", "// vim: set filetype=evil:" }, lines(nvim))
    eq("superpower-output", nvim:eval("&filetype"))
    nvim:feed("r")
    nvim:wait("vim.fn.execute('messages'):match('this output has no readable form') ~= nil")
    nvim:feed("g?")
    nvim:wait_screen("Stage 1: output")
  end)

  it("is followed while it grows, unless the cursor is elsewhere", function()
    local nvim, path = open("one\n")
    T.write(path, "one\ntwo\nthree\n")
    nvim:wait("vim.fn.line('$') == 3", 3000)
    eq(3, nvim:eval("line('.')"))
    nvim:feed("gg")
    T.write(path, "one\ntwo\nthree\nfour\n")
    nvim:wait("vim.fn.line('$') == 4", 3000)
    eq(1, nvim:eval("line('.')"))
    nvim:feed("q")
    nvim:wait("vim.bo.filetype ~= 'superpower-output'")
    lacks(nvim:messages(), "Error")
  end)

  --- Reads each matching file, as the output window does.
  local function read(pattern)
    local nvim = T.child()
    local found = vim.fn.glob(T.root .. pattern, false, true)
    for _, path in ipairs(found) do
      local shown = nvim:lua([[return #require("superpower.views.transcript").render(vim.fn.readfile(...))]], path)
      -- A recording that was cut after its first step has nothing to show.
      ok(shown > 0 or #vim.fn.readfile(path) < 2, path)
    end
    return #found
  end

  it("is read without an error from every recorded transcript", function()
    ok(read("/tests/fixtures/transcripts/*.log") > 80)
  end)

  it("is read without an error from recordings of others", function()
    if not T.exists(T.root .. "/../shared/harness-transcripts") then
      T.skip("what others recorded is not beside the repository")
    end
    ok(read("/../shared/harness-transcripts/*.jsonl") > 80)
  end)

  it("goes back to the run of the history that it was opened from", function()
    local nvim = S.child()
    local run = S.run({ state = "complete", summary = "complete in 1h" })
    run.root = nvim.project
    S.answer(nvim, "status", run)
    S.answer(nvim, "output", { path = T.write(nvim.dir .. "/output.log", "what it printed\n") })
    nvim:lua("require('superpower.views.run_details').open(..., '0190-abc')", nvim.project)
    nvim:wait("vim.bo.filetype == 'superpower-run'")
    for _, key in ipairs({ "<CR>", "p" }) do
      nvim:feed("3G" .. key)
      nvim:wait_screen("what it printed")
      nvim:feed("q")
      nvim:wait("vim.bo.filetype == 'superpower-run' and vim.fn.line('.') == 3")
    end
  end)

  it("that does not exist is reported", function()
    local nvim = S.child()
    S.refuse(nvim, "output", { code = "no-output", message = "stage 1 has not started an agent yet" })
    nvim:lua("require('superpower.views.output').open(..., 1, 'output')", nvim.project)
    nvim:wait("vim.fn.execute('messages') ~= ''")
    contains(nvim:messages(), "has not started an agent yet")
  end)
end)
