// What another language has to say: every text of English but its singulars, for which i18next takes
// `key_one` before `key` where `count` is given (Chinese knows none).
type Singular = `${string}_one`;
export type TwinOf<Texts> = Record<Exclude<keyof Texts, Singular>, string>;
