// Type of a translated catalogue. It has every English text except the singulars. For a singular i18next uses
// `key_one` instead of `key` where `count` is given. Chinese has no singular.
type Singular = `${string}_one`;
export type TwinOf<Texts> = Record<Exclude<keyof Texts, Singular>, string>;
