// Moves the view of a graph: to its first part, to all of it, to one node. A view that a person has moved stays.
import { useReactFlow, useStore } from '@xyflow/react';
import { useCallback, useEffect, useRef } from 'react';
import { firstView, isWhole, viewWith, wholeView, type View } from './graph_view';
import type { Layout } from './layout';

export const LEAST_ZOOM = 0.05;
export const MOST_ZOOM = 2;
const FAR = 0.75; // zoom below which a node has only its name, in larger letters
const MAP_FROM = { width: 560, height: 200 }; // px; in a smaller window a map would hide what it is a map of

export function useFrame(layout: Layout, focus: string | undefined, full: boolean) {
  const { setViewport, getViewport, zoomTo } = useReactFlow();
  const width = useStore((state) => state.width);
  const height = useStore((state) => state.height);
  const isFar = useStore((state) => state.transform[2] < FAR);
  const hidesSome = useStore((state) => {
    const [x, y, zoom] = state.transform;
    return !isWhole({ x, y, zoom }, state, layout);
  });
  const moved = useRef(false);
  const go = useCallback((view: View, duration = 0) => void setViewport(view, { duration }), [setViewport]);
  useEffect(() => {
    moved.current = false;
  }, [full]);
  useEffect(() => {
    if (moved.current || width === 0 || height === 0) return;
    go(
      firstView(
        { width, height },
        layout,
        layout.boxes.find((box) => box.id === focus),
      ),
    );
    // oxlint-disable-next-line react/exhaustive-deps -- the view does not follow the nodes that run
  }, [layout, width, height, full, go]);
  return {
    isFar,
    hasMap: hidesSome && width >= MAP_FROM.width && height >= MAP_FROM.height,
    zoomBy: (factor: number) => {
      moved.current = true;
      void zoomTo(getViewport().zoom * factor);
    },
    showAll: () => {
      moved.current = true;
      go(wholeView({ width, height }, layout));
    },
    show: (id: string) => {
      const box = layout.boxes.find((one) => one.id === id);
      if (!box || width === 0) return;
      moved.current = true;
      go(viewWith(box, getViewport(), { width, height }));
    },
    // The library says nothing about who moved the view but the event of the person.
    onMoveStart: (event: MouseEvent | TouchEvent | null) => {
      if (event) moved.current = true;
    },
  };
}
