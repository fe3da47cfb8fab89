import assert from "node:assert/strict";
import { test } from "node:test";
import { add, total } from "../src/cart.js";

test("a total is exact", () => {
  assert.equal(total(add(add({}, "tea", 3), "cup")), 3 * 690 + 1450);
});

test("what the shop does not have cannot be added", () => {
  assert.throws(() => add({}, "coffee"), /no item "coffee"/);
});
