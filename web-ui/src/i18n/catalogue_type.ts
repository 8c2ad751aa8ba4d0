// Type of a translated catalogue: every English text except the singulars, for which i18next uses `key_one`
// instead of `key` where `count` is given (Chinese has none).
type Singular = `${string}_one`;
export type TwinOf<Texts> = Record<Exclude<keyof Texts, Singular>, string>;
