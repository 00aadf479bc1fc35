// Runs `tests/*.test.ts` by node's own test runner; Vite, which builds the page, reads the TypeScript.

import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createServer } from "vite";

const folder = fileURLToPath(new URL(".", import.meta.url));
const server = await createServer({
  root: fileURLToPath(new URL("..", import.meta.url)),
  logLevel: "warn",
  server: { middlewareMode: true, hmr: false, watch: null, ws: false },
  optimizeDeps: { noDiscovery: true },
});
for (const file of readdirSync(folder).filter((name) => name.endsWith(".test.ts"))) {
  await server.ssrLoadModule(`/tests/${file}`);
}
await server.close();
