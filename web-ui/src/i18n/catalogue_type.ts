// Type of a translated catalogue: every English text except the singulars, for which i18next uses `key_one`
// instead of `key` where `count` is given (Chinese has none). `queue_one` is no singular but a policy.
type Singular<Key> = Key extends `${string}.queue_one` ? never : Key extends `${string}_one` ? Key : never;
export type TwinOf<Texts> = Record<Exclude<keyof Texts, Singular<keyof Texts>>, string>;
