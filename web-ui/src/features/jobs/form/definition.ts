// A job's definition, as in a file or in the body of a request.
export type Definition = Record<string, unknown>;
