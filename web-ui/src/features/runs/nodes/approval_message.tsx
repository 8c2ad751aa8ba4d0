// The message of an approval. Nothing if it has none.
export function ApprovalMessage({ text, className = '' }: { text: unknown; className?: string }) {
  if (typeof text !== 'string' || text === '') return null;
  return <p className={'wrap-anywhere whitespace-pre-wrap ' + className}>{text}</p>;
}
