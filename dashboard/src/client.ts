/** The client as one file, which the collector serves to pages: with all mechanisms, for a script tag and three lines. */

export * from "../../clients/typescript/src/index.js";
export { all as mechanisms } from "../../clients/typescript/src/all.js";
export { HeavyHitters } from "../../clients/typescript/src/heavy-hitters.js";
