import assert from "node:assert/strict";
import { test } from "node:test";
import { check, register } from "../src/accounts.js";

test("only the right password opens an account", () => {
  register("Ada@example.org", "a long enough one");
  assert.equal(check("ada@example.org", "a long enough one"), true);
  assert.equal(check("ada@example.org", "another one"), false);
  assert.equal(check("nobody@example.org", "another one"), false);
});
