import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { FormDialog } from './form_dialog';
import ModalDialog from './modal_dialog';

let done: string[];
beforeEach(() => {
  done = [];
});

function Question({ kind, children }: { kind: 'primary' | 'danger'; children?: React.ReactNode }) {
  return (
    <ModalDialog
      open
      onClose={() => done.push('closed')}
      title="Pause Backup?"
      actions={
        <>
          <button type="button" className="button" onClick={() => done.push('cancelled')}>
            Cancel
          </button>
          <button type="button" className={'button button-' + kind} onClick={() => done.push('done')}>
            Go
          </button>
        </>
      }
    >
      {children}
    </ModalDialog>
  );
}
const focused = (name: string) =>
  waitFor(() => expect(document.activeElement).toBe(screen.getByRole('button', { name })));

describe('focus of a dialog', () => {
  it('a dialog focuses its first visible field', async () => {
    render(
      <Question kind="danger">
        <input type="hidden" />
        <input aria-label="Token" readOnly />
        <input aria-label="Reason" />
        <input aria-label="Other" />
      </Question>,
    );
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Reason')));
  });
  it('a dialog focuses the selected option', async () => {
    render(
      <Question kind="primary">
        <input type="radio" name="how" aria-label="One" />
        <input type="radio" name="how" aria-label="Two" defaultChecked />
      </Question>,
    );
    await waitFor(() => expect(document.activeElement).toBe(screen.getByLabelText('Two')));
  });
  it('a dialog focuses its main action when it has no field', async () => {
    render(<Question kind="primary">Really?</Question>);
    await focused('Go');
  });
  it('a dialog focuses Cancel when its main action destroys something', async () => {
    render(<Question kind="danger">Really?</Question>);
    await focused('Cancel');
  });
});

describe('the Enter key', () => {
  it('Enter in a one-line field triggers the main action once', async () => {
    render(
      <Question kind="primary">
        <input aria-label="Reason" />
      </Question>,
    );
    fireEvent.keyDown(screen.getByLabelText('Reason'), { key: 'Enter' });
    expect(done).toEqual(['done']);
  });
  it('Enter in a text area, on a check box or while composing does nothing', () => {
    render(
      <Question kind="primary">
        <textarea aria-label="Text" />
        <input type="checkbox" aria-label="Box" />
        <input aria-label="Reason" />
      </Question>,
    );
    for (const field of ['Text', 'Box']) fireEvent.keyDown(screen.getByLabelText(field), { key: 'Enter' });
    fireEvent.keyDown(screen.getByLabelText('Reason'), { key: 'Enter', isComposing: true });
    expect(done).toEqual([]);
  });
  it('Enter in a form is left to the browser', async () => {
    render(
      <FormDialog
        title="New"
        save="Create"
        pointers={[]}
        onClose={() => {}}
        onSave={async () => void done.push('saved')}
      >
        {() => <input aria-label="Name" />}
      </FormDialog>,
    );
    const name = await screen.findByLabelText('Name', {}, { timeout: 60_000 });
    expect(fireEvent.keyDown(name, { key: 'Enter' })).toBe(true);
    expect(done).toEqual([]);
  });
});
