// Writes src/api/schema.d.ts, the types of the schemas in the OpenAPI document. With --check it compares
// instead. Descriptions are left out: a reworded sentence changes no type.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString } from 'openapi-typescript';
import { format, resolveConfig } from 'prettier';
import { parse } from 'yaml';

const DOCUMENT = '../scheduler/openapi/openapi.yaml';
const TYPES = 'src/api/schema.d.ts';

function withoutDescriptions(node) {
  if (Array.isArray(node)) return node.map(withoutDescriptions);
  if (node === null || typeof node !== 'object') return node;
  const kept = Object.entries(node).filter(([key, is]) => key !== 'description' || typeof is !== 'string');
  return Object.fromEntries(kept.map(([key, is]) => [key, withoutDescriptions(is)]));
}

// Answers without a name in the document are named after their operation: `whyJob` gives WhyJob.
function unnamedAnswers(paths) {
  const answers = {};
  for (const { operationId, responses } of Object.values(paths).flatMap((path) => Object.values(path))) {
    for (const status of ['200', '201', '202']) {
      const schema = responses?.[status]?.content?.['application/json']?.schema;
      if (schema?.type === 'object') answers[operationId[0].toUpperCase() + operationId.slice(1)] = schema;
    }
  }
  return answers;
}

const { openapi, info, paths, components } = parse(readFileSync(DOCUMENT, 'utf8'), {
  merge: true,
  maxAliasCount: -1,
});
const schemas = withoutDescriptions({ ...components.schemas, ...unnamedAnswers(paths) });
const tree = await openapiTS(
  { openapi, info, components: { schemas } },
  { defaultNonNullable: false, emptyObjectsUnknown: true },
);
// Without paths it declares three more types, of nothing.
const used = tree.filter((node) => ['components', 'WithRequired'].includes(node.name.text));
const text = `// Generated from the OpenAPI document: \`npm run types\`.\n${astToString(used)}`;
const types = await format(text, { ...(await resolveConfig(TYPES)), filepath: TYPES });

if (!process.argv.includes('--check')) writeFileSync(TYPES, types);
else if (readFileSync(TYPES, 'utf8') !== types) {
  console.error(`${TYPES} is not what ${DOCUMENT} gives: npm run types`);
  process.exit(1);
}
