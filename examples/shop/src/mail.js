// Mail is written into a folder, where a test or a person can read it.

import { mkdirSync, writeFileSync } from "node:fs";

let count = 0;

export function send(to, subject, text) {
  mkdirSync("outbox", { recursive: true });
  count += 1;
  writeFileSync(`outbox/${String(count).padStart(4, "0")}.txt`, `To: ${to}\nSubject: ${subject}\n\n${text}\n`);
}
