// Names that users give to groups and calendars. Pure.
export const isName = (text: string): boolean => /^[a-z0-9][a-z0-9_-]{0,62}$/.test(text);
