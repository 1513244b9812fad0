declare const CADRE_VERSION: string | undefined;

/** Put in by the build; unbuilt sources have none. Only main.ts imports it, so that it is bundled there. */
export const version: string = typeof CADRE_VERSION === "string" ? CADRE_VERSION : "0.0.0";
