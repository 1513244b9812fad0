import type { BuildOptions } from "esbuild";

export function bundleOptions(options: { root: string; version: string }): BuildOptions;
export function moduleOptions(options: { root: string; version: string }): BuildOptions;
