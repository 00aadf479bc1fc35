/**
 * Vite plugin: `virtual:scenes` holds the scenes of `page/scenes/`, read and checked when the page is built.
 *
 * A fault of a scene names its file and field and ends the build. Needs `smol-toml` (development only):
 * the page itself holds no reader of TOML.
 */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "smol-toml";
import type { Plugin } from "vite";
import { checkScene } from "./src/scene/check";
import type { Scene } from "./src/scene/types";

const FOLDER = fileURLToPath(new URL("scenes", import.meta.url));
const NAME = "virtual:scenes";
const FILE = /^\d\d-([a-z0-9-]+)\.toml$/;

/** The scenes of a folder in the order of their files. */
export function readScenes(folder: string = FOLDER): Scene[] {
  const files = readdirSync(folder)
    .filter((file) => file.endsWith(".toml"))
    .sort();
  return files.map((file) => readScene(folder, file));
}

function readScene(folder: string, file: string): Scene {
  const id = FILE.exec(file)?.[1];
  if (id === undefined) throw new Error(`${file}: a scene's file is called NN-name.toml`);
  try {
    return checkScene(id, parse(readFileSync(join(folder, file), "utf8")));
  } catch (fault) {
    throw new Error(`scenes/${file}: ${fault instanceof Error ? fault.message : fault}`);
  }
}

/** The plugin. */
export function scenes(): Plugin {
  return {
    name: "fairq-scenes",
    resolveId: (id) => (id === NAME ? `\0${NAME}` : null),
    load(id) {
      if (id !== `\0${NAME}`) return null;
      for (const file of readdirSync(FOLDER)) this.addWatchFile(join(FOLDER, file));
      return `export const scenes = ${JSON.stringify(readScenes())};`;
    },
  };
}
