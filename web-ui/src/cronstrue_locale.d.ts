// The locale registers itself; it exports nothing that is used.
declare module 'cronstrue/locales/zh_CN.js';
