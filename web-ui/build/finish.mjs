// The last step of the build: encoded forms beside each file that is worth it, and the manifest out of
// what is served.
import { mkdirSync, readFileSync, readdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const DIST = 'dist';
const WORTH = /\.(js|css|svg|json)$/;
const BYTES_MIN = 1024;

mkdirSync('node_modules/.carillon', { recursive: true });
renameSync(join(DIST, 'manifest.json'), 'node_modules/.carillon/manifest.json');

for (const entry of readdirSync(DIST, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !WORTH.test(entry.name)) continue;
  const path = join(entry.parentPath, entry.name);
  const bytes = readFileSync(path);
  if (bytes.length < BYTES_MIN) continue;
  writeFileSync(path + '.gz', gzipSync(bytes, { level: 9 }));
  writeFileSync(
    path + '.br',
    brotliCompressSync(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length },
    }),
  );
}
