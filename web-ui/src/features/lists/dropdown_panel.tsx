// A button with a panel below it. The panel is closed by Escape, by a link in the panel, and by a click or
// focus elsewhere.
import type { LucideIcon } from 'lucide-react';
import { useEffect, useId, useRef, useState, type ReactNode } from 'react';

export function DropdownPanel(props: {
  label: string;
  title: string;
  icon: LucideIcon;
  children: ReactNode;
}) {
  const [open, setOpen] = useState(false);
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!open) return;
    const around = box.current!;
    const close = () => {
      setOpen(false);
      button.current!.focus();
    };
    const onKey = (event: KeyboardEvent) => event.key === 'Escape' && close();
    const onPointer = (event: PointerEvent) => !around.contains(event.target as Node) && setOpen(false);
    const onClick = (event: MouseEvent) =>
      around.contains(event.target as Node) && (event.target as Element).closest('a') && close();
    // If the focused element was removed, relatedTarget is null. The panel then stays open.
    const onLeave = (event: FocusEvent) =>
      event.relatedTarget && !around.contains(event.relatedTarget as Node) && setOpen(false);
    around.addEventListener('keydown', onKey);
    around.addEventListener('focusout', onLeave);
    document.addEventListener('pointerdown', onPointer);
    document.addEventListener('click', onClick); // on the document, so that the link handles the click first
    return () => {
      around.removeEventListener('keydown', onKey);
      around.removeEventListener('focusout', onLeave);
      document.removeEventListener('pointerdown', onPointer);
      document.removeEventListener('click', onClick);
    };
  }, [open]);
  return (
    <div ref={box} className="sm:relative">
      <button
        ref={button}
        type="button"
        className="button max-w-60"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        <props.icon aria-hidden size={15} className="shrink-0" />
        <span className="truncate">{props.label}</span>
      </button>
      {open && (
        <div
          id={id}
          role="group"
          aria-label={props.title}
          className="popup absolute top-full right-0 z-20 mt-1 grid w-80 max-w-full gap-3 p-3 sm:max-w-none"
        >
          {props.children}
        </div>
      )}
    </div>
  );
}
