// The core of the client: read a question, make a report. Mechanisms are imported one by one, as "deniable/grr" and so
// on.

export { DeniableError, type Code } from "./core/errors.js";
export type { Domain } from "./core/domain.js";
export type { Mechanism } from "./core/mechanism.js";
export { ID_BYTES, Question, type Reading } from "./core/question.js";
export type { Spec } from "./core/spec.js";
export { newId } from "./core/id.js";
export { Client } from "./client/client.js";
export type { Asked, Given, Options } from "./client/options.js";
export type { Form, Segment } from "./client/form.js";
export { indexedDb, inMemory, webStorage, type Fate, type Kept, type State, type Store } from "./client/store.js";
