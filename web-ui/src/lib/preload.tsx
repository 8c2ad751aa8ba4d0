// A part that is drawn on nearly every visit of its page: fetched with the page, not when it is first drawn. React shows
// what stands in for a part for 300 ms at least, with `lazy` also for one that is here already.
import { lazy, useState, type ComponentType } from 'react';

export function early<Props extends object>(
  load: () => Promise<{ default: ComponentType<Props> }>,
): ComponentType<Props> {
  let here: ComponentType<Props> | undefined;
  const loading = load();
  const Late = lazy(() => loading) as unknown as ComponentType<Props>;
  // What goes wrong is told where it is drawn.
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
