// Accounts live in memory: the shop forgets them when it stops.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

const accounts = new Map();

export function register(email, password) {
  const key = email.trim().toLowerCase();
  if (accounts.has(key)) throw new Error("there is an account with this address");
  if (password.length < 10) throw new Error("a password has at least 10 characters");
  const salt = randomBytes(16);
  accounts.set(key, { email: key, salt, hash: digest(password, salt) });
}

export function check(email, password) {
  const account = accounts.get(email.trim().toLowerCase());
  return Boolean(account) && timingSafeEqual(account.hash, digest(password, account.salt));
}

function digest(password, salt) {
  return createHash("sha256").update(salt).update(password).digest();
}
