import { addEnglish } from '../i18n';

export const en = {
  'palette.pause': 'Pause {{name}}',
  'palette.resume': 'Resume {{name}}',
  // The pause of the whole cluster.
  'pause.banner': 'Cluster paused by {{by}}: {{reason}}. No runs start. Paused:',
} as const;
addEnglish(en);
