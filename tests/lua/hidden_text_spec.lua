-- Text from others: invisible characters, and those that change its direction, are shown.
local T = require("harness")
local Shop = require("support.shop")
local describe, it, eq, contains = T.describe, T.it, T.eq, T.contains

describe("text that is drawn", function()
  -- Unicode's Default_Ignorable_Code_Point and Bidi_Control, the separators of lines, and the C1 controls.
  local unseen = {
    { 0x0080, 0x009f },
    { 0x00ad, 0x00ad },
    { 0x034f, 0x034f },
    { 0x061c, 0x061c },
    { 0x115f, 0x1160 },
    { 0x17b4, 0x17b5 },
    { 0x180b, 0x180f },
    { 0x200b, 0x200f },
    { 0x2028, 0x202e },
    { 0x2060, 0x206f },
    { 0x3164, 0x3164 },
    { 0xfe00, 0xfe0f },
    { 0xfeff, 0xfeff },
    { 0xffa0, 0xffa0 },
    { 0xfff0, 0xfffb },
    { 0x1bca0, 0x1bca3 },
    { 0x1d173, 0x1d17a },
    { 0xe0000, 0xe0fff },
  }
  it("shows every character that hides or reorders it", function()
    local nvim = Shop.child()
    local missed = nvim:lua(
      [[
        local visible, missed = require("superpower.base.text").visible, {}
        for _, range in ipairs(...) do
          for code = range[1], range[2] do
            if visible("a" .. vim.fn.nr2char(code, true) .. "b") ~= ("a<%04x>b"):format(code) then
              table.insert(missed, ("%x"):format(code))
            end
          end
        end
        return missed
      ]],
      unseen
    )
    eq({}, missed)
  end)

  it("leaves characters that are part of an emoji or a word", function()
    local nvim = Shop.child()
    local function visible(text)
      return nvim:lua("return require('superpower.base.text').visible(...)", text)
    end
    for _, text in ipairs({
      "❤️",
      "1️⃣",
      "👩‍💻",
      "🏳️‍🌈",
      "می‌خواهم",
      "葛󠄀",
      "Ünïcode — “text” 界面",
    }) do
      eq(text, visible(text))
    end
    eq("pass<200c>word ^[<fe0f>^?", visible("pass\226\128\140word \27\239\184\143\127"))
  end)
end)

describe("a linked .claude folder that leaves the project", function()
  local function linked()
    local nvim = Shop.child()
    nvim:lua([[
      local outside = vim.fn.tempname()
      vim.fn.mkdir(outside .. "/superpowers", "p")
      vim.fn.mkdir(vim.fn.getcwd() .. "/linked/.git", "p")
      vim.uv.fs_symlink(outside, vim.fn.getcwd() .. "/linked/.claude")
      vim.cmd.cd("linked")
    ]])
    return nvim
  end
  local words = ".claude is a link out of the project, which is not followed"

  it("is named by run, edit, check and checkhealth", function()
    for _, command in ipairs({ "Superpower run w", "Superpower edit w", "Superpower check", "Superpower edit" }) do
      local nvim = linked()
      nvim:cmd("silent! " .. command)
      nvim:wait("vim.fn.execute('messages'):gsub('%s+', ' '):find('is a link out of the project', 1, true) ~= nil")
    end
    local nvim = linked()
    nvim:cmd("checkhealth superpower")
    contains(table.concat(nvim:lua("return vim.api.nvim_buf_get_lines(0, 0, -1, false)"), "\n"), words)
  end)

  it("is named by the dashboard", function()
    local nvim = linked()
    nvim:cmd("Superpower")
    nvim:wait_screen("is a link out of the project")
  end)
end)
