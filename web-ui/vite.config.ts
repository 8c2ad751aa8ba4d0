import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// Tests that replace modules, or load them again. A module that another file has loaded would not be replaced.
const OWN_MODULES = [
  'src/auth/bootstrap_requests.test.ts',
  'src/features/notices/deliveries_page.test.tsx',
  'src/features/system/pause.test.tsx',
  'src/i18n/language.test.ts',
  'src/ui/time.test.tsx',
];

// Relative URLs and the <base> of index.html make one build work under any path.
export default defineConfig({
  base: './',
  plugins: [react(), tailwindcss()],
  build: {
    target: 'es2022',
    manifest: 'manifest.json',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What nearly every page needs comes as one file: cut into many it compresses worse, and the budget is of all.
    // The texts of later pages are not: the first page would wait for them. What asks before the rest runs is first, by itself.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'opening', test: /src\/(auth\/(boot|bootstrap_requests|token_storage)|api\/url)\./ },
            {
              name: 'base',
              test: /node_modules|src\/(api|auth|lib|ui|i18n)\/(?!texts\.zh)/,
              minShareCount: 18,
            },
            { name: 'icons', test: /lucide-react\/dist\/esm\/icons/, minShareCount: 2 },
          ],
        },
      },
    },
  },
  // `npm run dev` beside a server that runs: CARILLON_URL=http://127.0.0.1:8640 npm run dev
  server: { proxy: { '/api': process.env.CARILLON_URL ?? 'http://127.0.0.1:8640' } },
  test: {
    environment: 'happy-dom',
    setupFiles: ['test_support/setup.ts'],
    restoreMocks: true,
    unstubGlobals: true,
    // Limits that a machine under any load keeps as well; a test that passes does not reach them.
    testTimeout: 240_000,
    // A quarter less CPU time than processes. Most files share the modules of their worker, which takes less than half
    // of the time: otherwise each file loads and runs the console, its libraries and happy-dom again.
    pool: 'threads',
    projects: [
      {
        extends: true,
        test: {
          name: 'shared modules',
          include: ['src/**/*.test.{ts,tsx}'],
          exclude: OWN_MODULES,
          setupFiles: ['test_support/shared_setup.ts'],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'own modules', include: OWN_MODULES } },
    ],
  },
});
