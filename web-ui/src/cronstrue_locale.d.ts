// The module registers the locale when it is loaded. Its exports are not used.
declare module 'cronstrue/locales/zh_CN.js';
