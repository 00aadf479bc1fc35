// Three builds: the folder (default), `lab.html` in one file (mode `single`), the notebook's module (mode
// `widget`). The simulator comes from FAIRQ_WASM.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { defineConfig, type Plugin, type UserConfig } from "vite";
import { scenes } from "./scenes-plugin";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

function simulator(): Buffer {
  const path = process.env.FAIRQ_WASM ?? here("../target/lab/fairq_lab.wasm");
  if (!existsSync(path))
    throw new Error(`no simulator at ${path}: make it with \`make lab\`, or name it in FAIRQ_WASM`);
  return readFileSync(path);
}

/** The simulator as a file beside the page. */
function wasmFile(): Plugin {
  return {
    name: "fairq-wasm-file",
    generateBundle() {
      this.emitFile({ type: "asset", fileName: "fairq_lab.wasm", source: simulator() });
      // `fairq lab net.toml` serves its scenario under this name; elsewhere there is none.
      this.emitFile({ type: "asset", fileName: "scenario.json", source: "null\n" });
    },
  };
}

/** What the builds of one file hold as text: the simulator, deflated, and the styles. */
function inside(): Plugin {
  const made: Record<string, () => string> = {
    "virtual:simulator": () => deflateRawSync(simulator(), { level: 9 }).toString("base64"),
    "virtual:styles": styles,
  };
  return {
    name: "fairq-inside",
    resolveId: (id) => (id in made ? `\0${id}` : null),
    load(id) {
      const make = id.startsWith("\0") ? made[id.slice(1)] : undefined;
      return make === undefined ? null : `export default ${JSON.stringify(make())};`;
    },
  };
}

function styles(): string {
  const own = ["base", "work", "controls", "dialogs"].map((name) => `src/style/${name}.css`);
  const files = ["node_modules/uplot/dist/uPlot.min.css", ...own, "src/scene/scene.css"];
  return files.map((file) => readFileSync(here(file), "utf8")).join("\n");
}

/** Leaves one file of a build: its code, put into the page. */
function oneFile(): Plugin {
  return {
    name: "fairq-one-file",
    generateBundle(_, bundle) {
      const chunk = Object.values(bundle).find((each) => each.type === "chunk");
      if (chunk === undefined) throw new Error("the build of one file made no code");
      for (const name of Object.keys(bundle)) delete bundle[name];
      // In code that stands in a page, the end of a script may not be written out.
      const code = chunk.code.replaceAll("</script", "<\\/script");
      const page = readFileSync(here("index.html"), "utf8")
        .replace(/\s*<script[^>]*><\/script>/, "")
        .replace("</head>", () => `<style>${styles()}</style></head>`)
        .replace("</body>", () => `<script type="module">${code}</script></body>`);
      this.emitFile({ type: "asset", fileName: "lab.html", source: page });
    },
  };
}

/** A module without the styles beside it: it holds them. */
function noStyles(): Plugin {
  return {
    name: "fairq-no-styles",
    enforce: "post",
    generateBundle(_, bundle) {
      for (const name of Object.keys(bundle)) if (name.endsWith(".css")) delete bundle[name];
    },
  };
}

export default defineConfig(({ mode }): UserConfig => {
  const shared: UserConfig = { base: "./", worker: { format: "es" } };
  if (mode !== "single" && mode !== "widget") {
    const build = { modulePreload: { polyfill: false }, assetsInlineLimit: 0, target: "es2022" };
    return { ...shared, plugins: [scenes(), wasmFile()], build };
  }
  const entry = here(`src/${mode}.ts`);
  return {
    ...shared,
    // A page of a file may start a worker from a blob only if the worker is no module.
    worker: { format: "iife" },
    plugins: [scenes(), inside(), mode === "single" ? oneFile() : noStyles()],
    build: {
      target: "es2022",
      emptyOutDir: false,
      lib: { entry, formats: ["es"], fileName: () => `${mode}.js` },
      chunkSizeWarningLimit: 4000,
    },
    define: { "process.env.NODE_ENV": '"production"' },
  };
});
