// Like React's `lazy`, for parts that nearly every visit of a page shows: loads them with the page,
// not when they are first rendered. With `lazy`, React shows the fallback for at least 300 ms, even
// if the part has been loaded.
import { lazy, useState, type ComponentType } from 'react';

export function early<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  let here: ComponentType<Props> | undefined;
  const loading = load();
  const Late = lazy(() => loading) as unknown as ComponentType<Props>;
  // An error is reported where the part is rendered.
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
