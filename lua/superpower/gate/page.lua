--- The content of the approval window: who finished what, the report as Markdown, and the files under review. Pure.
local text = require("superpower.base.text")
local markdown = require("superpower.ui.markdown")
local trust_sheet = require("superpower.verbs.trust_sheet")

local M = {}

---@class superpower.ApprovalPage
---@field lines superpower.Line[]
---@field files table<integer, superpower.ReviewFile> by row
---@field first_file? integer row
---@field report? integer rows before the report
---@field fences? superpower.Fence[]

---@param n integer?
---@param sign string
---@return string
local function count(n, sign)
  return n and n > 0 and sign .. n or ""
end

---@param file superpower.ReviewFile
---@param width integer
---@return superpower.Line
local function file_line(file, width)
  local groups = { ["+"] = "SuperpowerAdded", ["-"] = "SuperpowerRemoved" }
  local room = math.max(8, width - 18)
  local path = text.path(text.line(file.path), room)
  return {
    { "  " .. file.status .. " ", groups[file.status] or "SuperpowerChanged" },
    { text.fit(path, room), "SuperpowerPath" },
    { text.right(count(file.added, "+"), 7), "SuperpowerAdded" },
    { text.right(count(file.removed, "−"), 7), "SuperpowerRemoved" },
  }
end

--- Adds the trusted files that the run changed. They come first.
---@param page superpower.ApprovalPage
---@param review superpower.Review
---@param width integer
local function trusted_first(page, review, width)
  local changes = review.trust and review.trust.files or {}
  if #changes == 0 then
    return
  end
  table.insert(page.lines, { { "Changed since you trusted this superpower", "SuperpowerGate" } })
  local line = "Its agents read or run these files. Approving trusts them as they are now."
  for _, part in ipairs(text.wrap(line, width)) do
    table.insert(page.lines, { { part, "SuperpowerNote" } })
  end
  for _, change in ipairs(changes) do
    table.insert(page.lines, trust_sheet.change(change, width))
    if not vim.startswith(change.path, "~") then
      local status = change.change == "added" and "+" or (change.change == "removed" and "-" or "~")
      page.files[#page.lines] = { path = change.path, status = status }
      page.first_file = page.first_file or #page.lines
    end
  end
  table.insert(page.lines, { { "" } })
end

--- What was approved was not this list.
---@param page superpower.ApprovalPage
---@param changed string[]?
---@param width integer
local function changed_first(page, changed, width)
  if not changed then
    return
  end
  local words = "Nothing was approved yet: files have changed since the list was shown. This is the new list."
  if #changed > 0 then
    words = ("Nothing was approved yet. Changed since the list was shown: %s. This is the new list."):format(
      table.concat(vim.tbl_map(text.line, changed), ", ")
    )
  end
  for _, line in ipairs(text.wrap(words, width)) do
    table.insert(page.lines, { { line, "SuperpowerGate" } })
  end
  table.insert(page.lines, { { "" } })
end

---@param review superpower.Review
---@param run superpower.Snapshot
---@param width integer
---@param changed? string[] files that had changed since the list before this one was shown, as it was approved
---@return superpower.ApprovalPage
function M.page(review, run, width, changed)
  local page = { lines = {}, files = {} } ---@type superpower.ApprovalPage
  local function add(line)
    table.insert(page.lines, line)
  end
  local label = text.line(review.label or "")
  if text.width(label) > width - 22 then -- the title has no room for it
    for _, line in ipairs(text.wrap(label, width)) do
      add({ { line, "SuperpowerHeading" } })
    end
  end
  changed_first(page, changed, width)
  trusted_first(page, review, width)
  local from = review.from and run.stages[review.from] or nil
  if from then
    local who = from.actor or from.label
    local took = from.elapsed_ms and from.elapsed_ms >= 1000 and " in " .. text.clock(from.elapsed_ms) or ""
    local reports = review.message and review.message ~= "" and " and reports" or ""
    add({
      { ("%s finished stage %d%s%s"):format(text.line(who), from.position, took, reports), "SuperpowerNote" },
    })
  end
  if review.note and review.note ~= "" then
    for _, line in ipairs(text.wrap(text.line(review.note), width)) do
      add({ { line, "SuperpowerGate" } })
    end
  end
  add({ { "" } })
  if review.message and review.message ~= "" then
    local report = markdown.render(review.message, width)
    page.report, page.fences = #page.lines, report.fences
    vim.list_extend(page.lines, report.lines)
    add({ { "" } })
  end
  local files = review.files or {}
  if #files > 0 then
    add({ { "Changed since the last approval", "SuperpowerHeading" } })
  elseif not review.note then
    add({ { "No file has changed since the last approval", "SuperpowerHeading" } })
  end
  for _, file in ipairs(files) do
    add(file_line(file, width))
    page.files[#page.lines] = file
    page.first_file = page.first_file or #page.lines
  end
  if review.left_out and review.left_out ~= "" then
    for _, line in ipairs(text.wrap(text.line(review.left_out), width - 2)) do
      add({ { "  " .. line, "SuperpowerNote" } })
    end
  end
  return page
end

return M
