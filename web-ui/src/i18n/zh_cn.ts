// Simplified Chinese texts of all features.
import { zhCNProblems } from './problems/zh_cn';

const catalogues = import.meta.glob<Record<string, string>>('../**/texts.zh_cn.ts', {
  eager: true,
  import: 'zhCN',
});
export const zhCN: Record<string, string> = Object.assign({}, ...Object.values(catalogues), zhCNProblems);
