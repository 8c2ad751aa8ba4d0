// The reason why a request of an import failed, with the fields that the server refused.
import { ApiError } from '../../../api/client';
import { useTranslation } from '../../../i18n/use_translation';
import { explain } from '../../../ui/ui';

export function Failed({ error }: { error: unknown }) {
  const { t } = useTranslation();
  const fields = error instanceof ApiError ? error.errors : [];
  return (
    <div role="alert" className="mt-4 rounded-md bg-bad-soft px-3 py-2 text-bad">
      <p>{explain(error, t)}</p>
      <ul>
        {fields.map((one) => (
          <li key={one.pointer + one.code}>
            <span className="mono">{one.pointer}</span> {one.detail}
          </li>
        ))}
      </ul>
    </div>
  );
}
