import { addEnglish } from '../i18n';

export const en = {
  'palette.pause': 'Pause {{name}}',
  'palette.resume': 'Resume {{name}}',
  // The pause of the whole cluster.
  'pause.banner': 'Cluster paused by {{by}}: {{reason}}. No runs start. Paused:',
  'overload.banner':
    'Overload: runs of a priority under {{below}} whose schedule fires again within the hour are skipped ({{shed}} so far). Since:',
} as const;
addEnglish(en);
