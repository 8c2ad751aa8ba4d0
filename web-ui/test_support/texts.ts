// Every English text, whichever page it comes with.
import.meta.glob('../src/**/texts.en.ts', { eager: true });
