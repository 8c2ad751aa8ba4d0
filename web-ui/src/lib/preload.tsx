// Like React's `lazy`, for parts that nearly every visit of a page shows. Such a part is loaded with the
// page, not when it is first rendered. With `lazy`, React would show the fallback for at least 300 ms, even
// if the part has been loaded.
import { lazy, useState, type ComponentType } from 'react';

export function early<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  let here: ComponentType<Props> | undefined;
  const loading = load();
  const Late = lazy(() => loading) as unknown as ComponentType<Props>;
  // The error is ignored here, because it is reported where the part is rendered.
  loading.then(
    (all) => {
      here = all.default;
    },
    () => {},
  );
  return function Early(props: Props) {
    const [Part] = useState(() => here ?? Late);
    return <Part {...props} />;
  };
}
