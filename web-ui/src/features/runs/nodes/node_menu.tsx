// The menu of a node in the graph, at the place of a right click: its run, its job, and the actions of its row.
import '../../workflows/texts.en';
import { Menu } from '@base-ui/react/menu';
import { Link } from '@tanstack/react-router';
import type { RunNode } from '../../../api/workflows';
import { useTranslation } from '../../../i18n/use_translation';
import type { NodeAction } from './node_actions';

export interface MenuPlace {
  id: string; // of the node
  x: number; // px, in the window
  y: number;
}

export default function NodeMenu(props: {
  place: MenuPlace;
  node: RunNode;
  actions: readonly NodeAction[];
  onClose: () => void;
}) {
  const { t } = useTranslation();
  const { node, place } = props;
  const anchor = { getBoundingClientRect: () => new DOMRect(place.x, place.y, 0, 0) };
  return (
    <Menu.Root open onOpenChange={(open) => !open && props.onClose()}>
      <Menu.Portal>
        <Menu.Positioner className="z-50" anchor={anchor} align="start" sideOffset={2}>
          <Menu.Popup className="popup min-w-44 p-1" aria-label={t('nodes.menu', { node: node.id })}>
            <Menu.Item
              className="menu-item"
              render={<Link to="/runs/$id" params={{ id: node.run_id }} />}
              onClick={props.onClose}
            >
              {t('nodes.open_run')}
            </Menu.Item>
            {node.job_id !== null && (
              <Menu.Item
                className="menu-item"
                render={<Link to="/jobs/$id" params={{ id: node.job_id }} />}
                onClick={props.onClose}
              >
                {t('nodes.open_job')}
              </Menu.Item>
            )}
            {props.actions.map(({ icon: Icon, ...action }) => (
              <Menu.Item
                key={action.id}
                className="menu-item"
                disabled={action.disabled}
                title={action.title}
                onClick={action.choose}
              >
                {Icon && <Icon aria-hidden size={15} />}
                {action.label}
              </Menu.Item>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
