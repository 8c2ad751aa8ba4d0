// A search field. Its text is a parameter of the URL.
import { useEffect, useState } from 'react';

const DELAY_MS = 300;

// Typing changes the URL after a short delay. If something else changes the URL, the field shows the
// new text.
export function SearchField(props: { label: string; value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(props.value);
  const [sent, setSent] = useState(props.value);
  if (props.value !== sent) {
    setSent(props.value);
    setText(props.value);
  }
  const { onChange } = props;
  useEffect(() => {
    if (text === sent) return;
    const timer = setTimeout(() => {
      setSent(text.trim());
      onChange(text.trim());
    }, DELAY_MS);
    return () => clearTimeout(timer);
  }, [text, sent, onChange]);
  return (
    <input
      type="search"
      className="input w-full sm:w-64"
      aria-label={props.label}
      placeholder={props.label}
      value={text}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
