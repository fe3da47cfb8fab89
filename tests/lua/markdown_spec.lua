-- Rendering an agent's report. The function is pure, so the test compares text with highlight groups.
local T = require("harness")
local describe, it, eq, ok = T.describe, T.it, T.eq, T.ok

--- The pieces as `text|group`, one on each line.
local function rendered(source, width)
  local nvim = T.child()
  return nvim:lua(
    [[
    local out = {}
    for _, line in ipairs(require("superpower.ui.markdown").render(...).lines) do
      local parts = {}
      for _, chunk in ipairs(line) do
        table.insert(parts, chunk[2] and ("{%s|%s}"):format(chunk[1], chunk[2]) or chunk[1])
      end
      table.insert(out, table.concat(parts))
    end
    return out
  ]],
    source,
    width or 40
  )
end

describe("a report", function()
  it("has headings, lists, code, emphasis and quotes", function()
    eq(
      {
        "{Title |SuperpowerHeading}{code|@markup.raw}",
        "",
        "{• |SuperpowerKey}one {two|@markup.strong} three",
        "  {• |SuperpowerKey}inner",
        "{1. |SuperpowerKey}first",
        "{│ |SuperpowerDim}{said|SuperpowerText}",
        "an {idea|@markup.italic}, a_snake_case and 2 * 3 * 4",
        "{────────────────────────────────────────|SuperpowerDim}",
      },
      rendered(
        "## Title `code`\n\n- one **two** three\n  * inner\n1. first\n> said\nan *idea*, a_snake_case and 2 * 3 * 4\n---"
      )
    )
  end)

  it("wraps at words and hangs lists", function()
    eq({ "{• |SuperpowerKey}the quick brown", "  fox jumps" }, rendered("- the quick brown fox jumps", 18))
    eq({ "aaaaaaaaaa", "aaaaaaaaaa", "aaaaa" }, rendered(("a"):rep(25), 10))
    eq({ "", "日本語日本", "語日本語" }, vim.list_extend({ "" }, rendered("日本語日本語日本語", 10)))
  end)

  it("keeps code as it is, also an open fence", function()
    eq({
      "{  local x = **1**|@markup.raw.block}",
      "after",
    }, rendered("```lua\nlocal x = **1**\n```\nafter"))
    eq({ "{  open|@markup.raw.block}" }, rendered("```\nopen"))
    eq({ "", "" }, vim.list_extend({ "" }, rendered("``` ``` ` ** __ *\n")[1]:find("`") and { "" } or {}))
  end)

  it("never fails, whatever it is given", function()
    local nvim = T.child()
    local fine = nvim:lua([[
      math.randomseed(1)
      local render = require("superpower.ui.markdown").render
      local bits = { "`", "*", "**", "_", "#", "- ", "1. ", "```", "\n", " ", "x", "é", "日", "\27[1m", "\255", ">", "\t" }
      for _ = 1, 3000 do
        local parts = {}
        for index = 1, math.random(30) do parts[index] = bits[math.random(#bits)] end
        local ok, err = pcall(render, table.concat(parts), math.random(1, 40))
        if not ok then return err .. vim.inspect(table.concat(parts)) end
      end
      return "fine"
    ]])
    eq("fine", fine)
  end)

  it("highlights code with treesitter if there is a parser", function()
    local nvim = T.child()
    if not nvim:lua("return pcall(vim.treesitter.language.add, 'lua')") then
      T.skip("no parser")
    end
    ok(nvim:lua([[
      local markdown = require("superpower.ui.markdown")
      local page = markdown.render("text\n```lua\nlocal x = 1\n```", 40)
      local buf = vim.api.nvim_create_buf(false, true)
      require("superpower.ui.float").paint(buf, page.lines)
      markdown.colour(buf, page.fences, 0)
      local groups = {}
      for _, mark in ipairs(vim.api.nvim_buf_get_extmarks(buf, -1, { 1, 0 }, { 1, -1 }, { details = true })) do
        groups[mark[4].hl_group] = true
      end
      return groups["@keyword.lua"] or false
    ]]))
  end)
end)
