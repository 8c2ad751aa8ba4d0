// A labelled input with its hint and its error. Attributes connect them for screen readers.
import { useId, type ReactElement, type ReactNode, cloneElement } from 'react';

export function Field(props: {
  label: string;
  hint?: ReactNode;
  error?: string;
  optional?: boolean;
  className?: string;
  children: ReactElement<Record<string, unknown>>;
}) {
  const id = useId();
  return (
    <div className={'grid content-start gap-1 ' + (props.className ?? '')}>
      <label htmlFor={id} className="font-medium">
        {props.label}
      </label>
      {cloneElement(props.children, {
        id,
        'aria-invalid': props.error ? true : undefined,
        'aria-describedby': id + '-more',
      })}
      <div id={id + '-more'} className="text-xs">
        {props.error ? (
          <p className="text-bad" role="alert">
            {props.error}
          </p>
        ) : (
          props.hint && <div className="text-muted">{props.hint}</div>
        )}
      </div>
    </div>
  );
}
