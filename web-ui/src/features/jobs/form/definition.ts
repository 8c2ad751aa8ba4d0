// A job as its file or the body of a request has it.
export type Definition = Record<string, unknown>;
