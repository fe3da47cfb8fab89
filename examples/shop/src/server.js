// Serves the routes as JSON, and everything else from public/.

import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { extname, join, normalize } from "node:path";
import { routes } from "./routes.js";

const types = { ".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };

async function body(request) {
  let text = "";
  for await (const part of request) text += part;
  return text ? JSON.parse(text) : {};
}

createServer(async (request, response) => {
  const path = new URL(request.url, "http://shop").pathname;
  const reply = (status, value) => response.writeHead(status, { "content-type": types[".json"] }).end(JSON.stringify(value));
  try {
    const handler = routes[`${request.method} ${path}`];
    if (handler) {
      const answer = await handler({ body: await body(request) });
      return reply(answer.status, answer.body);
    }
    const file = join("public", normalize(path === "/" ? "/index.html" : path));
    response.writeHead(200, { "content-type": types[extname(file)] ?? "text/plain" }).end(await readFile(file));
  } catch (error) {
    reply(error.code === "ENOENT" ? 404 : 400, { error: error.message });
  }
}).listen(8080);
