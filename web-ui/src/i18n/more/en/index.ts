// English texts of the pages that are opened after the first one, by subject.
import { admin } from './admin';
import { bulk } from './bulk';
import { cluster } from './cluster';
import { executors } from './executors';
import { first } from './first';
import { form } from './form';
import { job } from './job';
import { lists } from './lists';
import { notices } from './notices';
import { plan } from './plan';
import { secrets } from './secrets';

export const enMore = {
  ...form,
  ...cluster,
  ...executors,
  ...lists,
  ...bulk,
  ...admin,
  ...secrets,
  ...notices,
  ...job,
  ...plan,
  ...first,
} as const;
