--- Characters that are invisible, or that change how the text around them reads.
---
--- This is the only table of them: `src/hidden.rs` reads this file, so each row has to stay on a line of its own. It
--- holds all of Unicode's Default_Ignorable_Code_Point and Bidi_Control, the line separators and the annotation
--- characters. `tests/engine/hidden.rs` compares it with Unicode's own tables.
local M = {}

---@class superpower.Hidden
---@field [1] integer the first character
---@field [2] integer the last one
---@field [3] string its name, or that of its block

---@type superpower.Hidden[]
M.hidden = {
  { 0x0080, 0x009f, "CONTROL" },
  { 0x00ad, 0x00ad, "SOFT HYPHEN" },
  { 0x034f, 0x034f, "COMBINING GRAPHEME JOINER" },
  { 0x061c, 0x061c, "ARABIC LETTER MARK" },
  { 0x115f, 0x115f, "HANGUL CHOSEONG FILLER" },
  { 0x1160, 0x1160, "HANGUL JUNGSEONG FILLER" },
  { 0x17b4, 0x17b5, "KHMER INHERENT VOWEL" },
  { 0x180b, 0x180d, "MONGOLIAN FREE VARIATION SELECTOR" },
  { 0x180e, 0x180e, "MONGOLIAN VOWEL SEPARATOR" },
  { 0x180f, 0x180f, "MONGOLIAN FREE VARIATION SELECTOR" },
  { 0x200b, 0x200b, "ZERO WIDTH SPACE" },
  { 0x200c, 0x200c, "ZERO WIDTH NON-JOINER" },
  { 0x200d, 0x200d, "ZERO WIDTH JOINER" },
  { 0x200e, 0x200e, "LEFT-TO-RIGHT MARK" },
  { 0x200f, 0x200f, "RIGHT-TO-LEFT MARK" },
  { 0x2028, 0x2028, "LINE SEPARATOR" },
  { 0x2029, 0x2029, "PARAGRAPH SEPARATOR" },
  { 0x202a, 0x202a, "LEFT-TO-RIGHT EMBEDDING" },
  { 0x202b, 0x202b, "RIGHT-TO-LEFT EMBEDDING" },
  { 0x202c, 0x202c, "POP DIRECTIONAL FORMATTING" },
  { 0x202d, 0x202d, "LEFT-TO-RIGHT OVERRIDE" },
  { 0x202e, 0x202e, "RIGHT-TO-LEFT OVERRIDE" },
  { 0x2060, 0x2060, "WORD JOINER" },
  { 0x2061, 0x2064, "INVISIBLE OPERATOR" },
  { 0x2065, 0x2065, "UNASSIGNED" },
  { 0x2066, 0x2066, "LEFT-TO-RIGHT ISOLATE" },
  { 0x2067, 0x2067, "RIGHT-TO-LEFT ISOLATE" },
  { 0x2068, 0x2068, "FIRST STRONG ISOLATE" },
  { 0x2069, 0x2069, "POP DIRECTIONAL ISOLATE" },
  { 0x206a, 0x206f, "DEPRECATED FORMAT CHARACTER" },
  { 0x3164, 0x3164, "HANGUL FILLER" },
  { 0xfe00, 0xfe0f, "VARIATION SELECTOR" },
  { 0xfeff, 0xfeff, "BYTE ORDER MARK" },
  { 0xffa0, 0xffa0, "HALFWIDTH HANGUL FILLER" },
  { 0xfff0, 0xfff8, "UNASSIGNED" },
  { 0xfff9, 0xfffb, "INTERLINEAR ANNOTATION" },
  { 0x1bca0, 0x1bca3, "SHORTHAND FORMAT CONTROL" },
  { 0x1d173, 0x1d17a, "MUSICAL SYMBOL FORMAT CONTROL" },
  { 0xe0000, 0xe007f, "TAG" },
  { 0xe0080, 0xe00ff, "UNASSIGNED" },
  { 0xe0100, 0xe01ef, "VARIATION SELECTOR" },
  { 0xe01f0, 0xe0fff, "UNASSIGNED" },
}

---@class superpower.AllowedHidden
---@field [1] integer the first character
---@field [2] integer the last one
---@field [3] integer the first character that it may follow
---@field [4] integer the last character that it may follow

--- Where such a character is part of how a word or an emoji is written. It is left as it is, once, directly after one
--- of these characters.
---@type superpower.AllowedHidden[]
M.allowed = {
  { 0x200c, 0x200d, 0x0620, 0x0dff },
  { 0x200d, 0x200d, 0x2190, 0x2bff },
  { 0x200d, 0x200d, 0xfe0f, 0xfe0f },
  { 0x200d, 0x200d, 0x1f000, 0x1faff },
  { 0x180b, 0x180f, 0x1820, 0x18aa },
  { 0xfe0e, 0xfe0f, 0x0023, 0x0023 },
  { 0xfe0e, 0xfe0f, 0x002a, 0x002a },
  { 0xfe0e, 0xfe0f, 0x0030, 0x0039 },
  { 0xfe0e, 0xfe0f, 0x00a9, 0x00a9 },
  { 0xfe0e, 0xfe0f, 0x00ae, 0x00ae },
  { 0xfe0e, 0xfe0f, 0x203c, 0x2049 },
  { 0xfe0e, 0xfe0f, 0x2122, 0x2139 },
  { 0xfe00, 0xfe0f, 0x2190, 0x2bff },
  { 0xfe00, 0xfe0f, 0x3001, 0x9fff },
  { 0xfe00, 0xfe0f, 0xf900, 0xfaff },
  { 0xfe00, 0xfe0f, 0x1f000, 0x1faff },
  { 0xfe00, 0xfe0f, 0x20000, 0x3ffff },
  { 0xe0100, 0xe01ef, 0x3400, 0x9fff },
  { 0xe0100, 0xe01ef, 0xf900, 0xfaff },
  { 0xe0100, 0xe01ef, 0x20000, 0x3ffff },
}

return M
