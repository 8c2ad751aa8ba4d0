import { addEnglish } from '../../i18n';

export const en = {
  'admin.secrets': 'Secrets',
  'secrets.under':
    'Values for the environment of jobs, referenced as {{form}}. They can be written but never read.',
  'secrets.none': 'No secrets yet',
  'secrets.none_hint': 'Store passwords and keys that jobs need here instead of in their definition.',
  'secrets.new': 'New secret',
  'secrets.create': 'Create secret',
  'secrets.created': 'Secret {{name}} created',
  'secrets.changed': 'Secret {{name}} changed',
  'secrets.replaced': 'Value of secret {{name}} replaced',
  'secrets.deleted': 'Secret {{name}} deleted',
  'secrets.name_hint': 'A letter or _, then letters, digits and _; cannot be changed later',
  'secrets.value': 'Value',
  'secrets.value_hint': 'At least 8 bytes, stored exactly as typed. The value is never shown again.',
  'secrets.new_value': 'New value (optional)',
  'secrets.new_value_hint':
    'Leave empty to keep the value. Runs that start after the change use the new value.',
  'secrets.show': 'Show the value while typing',
  'secrets.description': 'Description (optional)',
  'secrets.shared': 'Available to all jobs',
  'secrets.shared_hint': 'Otherwise only jobs of the owner can use the secret.',
  'secrets.shared_denied': 'Only administrators can share a secret.',
  'secrets.use': 'Available to',
  'secrets.use_all': 'All jobs',
  'secrets.use_own': 'Jobs of the owner',
  'secrets.only_own': 'Only the owner or an administrator can do this.',
  'secrets.edit_named': 'Edit {{name}}',
  'secrets.delete_named': 'Delete {{name}}',
  'secrets.delete_title': 'Delete {{name}}?',
  'secrets.delete_explain':
    'Jobs that use this secret stay, but their runs will fail. The value cannot be recovered.',
} as const;
addEnglish(en);
