// A cart is a map from an item's id to how many of it are wanted.

import { find } from "./catalog.js";

export function add(cart, id, count = 1) {
  if (!find(id)) throw new Error(`no item "${id}"`);
  if (!Number.isInteger(count) || count < 1) throw new Error("the count is a whole number, 1 or more");
  return { ...cart, [id]: (cart[id] ?? 0) + count };
}

export function total(cart) {
  return Object.entries(cart).reduce((sum, [id, count]) => sum + find(id).price * count, 0);
}
