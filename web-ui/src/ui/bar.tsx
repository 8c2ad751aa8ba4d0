// A bar that shows a share, beside its number.
export function Bar({
  share,
  className,
  fill = 'fill-accent',
}: {
  share: number;
  className: string;
  fill?: string;
}) {
  return (
    <svg aria-hidden viewBox="0 0 100 6" preserveAspectRatio="none" className={'block ' + className}>
      <rect width="100" height="6" className="fill-raised" />
      <rect width={Math.min(100, Math.max(0, share * 100))} height="6" className={fill} />
    </svg>
  );
}
