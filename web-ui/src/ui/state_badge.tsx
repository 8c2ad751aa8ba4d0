// A badge that shows a state by shape, text and colour.
import {
  Ban,
  CircleCheck,
  CircleDashed,
  CircleHelp,
  CirclePause,
  CirclePlay,
  CircleX,
  Hand,
  LoaderCircle,
  SkipForward,
  TimerOff,
  Unplug,
  Wrench,
  type LucideIcon,
} from 'lucide-react';
import { useTextOr } from '../i18n/text_or';

type Tone = 'ok' | 'bad' | 'busy' | 'warn' | 'idle';

const SHAPES: Record<string, readonly [LucideIcon, Tone]> = {
  PENDING: [CircleDashed, 'idle'],
  RUNNING: [LoaderCircle, 'busy'],
  HELD: [Hand, 'warn'],
  COMPLETED: [CircleCheck, 'ok'],
  FAILED: [CircleX, 'bad'],
  TIMED_OUT: [TimerOff, 'bad'],
  CANCELLED: [Ban, 'idle'],
  LOST: [CircleHelp, 'warn'],
  SKIPPED: [SkipForward, 'idle'],
  ENABLED: [CirclePlay, 'ok'],
  PAUSED: [CirclePause, 'warn'],
  ONLINE: [CircleCheck, 'ok'],
  UNHEALTHY: [CircleHelp, 'warn'],
  OFFLINE: [Unplug, 'idle'],
  DISABLED: [Ban, 'warn'],
  DRAINING: [Wrench, 'warn'],
  DELIVERED: [CircleCheck, 'ok'],
  GIVEN_UP: [CircleX, 'bad'],
  DONE: [CircleCheck, 'ok'],
  STOPPED: [CircleX, 'bad'],
};
const TONES: Record<Tone, string> = {
  ok: 'bg-ok-soft text-ok',
  bad: 'bg-bad-soft text-bad',
  busy: 'bg-busy-soft text-busy',
  warn: 'bg-warn-soft text-warn',
  idle: 'bg-idle-soft text-idle',
};

// A state as a shape and a colour only, for a place that has its name elsewhere.
export function StateShape({ state, className = '' }: { state: string; className?: string }) {
  const [Icon, tone] = SHAPES[state] ?? ([CircleHelp, 'idle'] as const);
  return (
    <span className={`${TONES[tone]} ${className}`} data-state={state}>
      <Icon aria-hidden size={14} />
    </span>
  );
}

export function StateBadge(props: { state: string }) {
  const textOr = useTextOr();
  const [Icon, tone] = SHAPES[props.state] ?? ([CircleHelp, 'idle'] as const);
  return (
    <span
      className={`inline-flex items-center gap-1.5 rounded-full py-0.5 pr-2.5 pl-1.5 text-xs font-medium whitespace-nowrap ${TONES[tone]}`}
      data-state={props.state}
    >
      <Icon aria-hidden size={14} className={props.state === 'RUNNING' ? 'animate-spin' : ''} />
      {textOr('state.', props.state)}
    </span>
  );
}
