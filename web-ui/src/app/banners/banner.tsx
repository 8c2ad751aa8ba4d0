// A message bar above every page.
import type { ReactNode } from 'react';

export function Banner(props: { icon: ReactNode; children: ReactNode }) {
  return (
    <div role="alert" className="flex items-center gap-3 border-b bg-warn-soft px-4 py-2.5 text-warn md:px-6">
      {props.icon}
      <p>{props.children}</p>
    </div>
  );
}
