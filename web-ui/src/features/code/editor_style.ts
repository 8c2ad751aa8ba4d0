// Colours and sizes of the editor, by the tokens of the style sheet. The editor is in a shadow tree, which takes a
// style sheet of the script; in the page itself the content policy forbids it.
import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const RING = { outline: '2px solid var(--accent)', outlineOffset: '1px' };

const look = EditorView.theme({
  '&': { height: '100%', background: 'var(--surface)', color: 'var(--ink)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '6px 0' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-gutters': {
    background: 'var(--code)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-activeLine': { background: 'transparent' },
  '&.cm-focused .cm-activeLine': { background: 'color-mix(in srgb, var(--raised) 55%, transparent)' },
  '.cm-activeLineGutter': { background: 'var(--raised)', color: 'var(--ink)' },
  '.cm-line.cm-wrong': { background: 'var(--bad-soft)', boxShadow: 'inset 3px 0 var(--bad)' },
  '.cm-gutterElement.cm-wrong': { color: 'var(--bad)', fontWeight: '700' },
  '.cm-searchMatch': { background: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { background: 'var(--accent-soft)', outline: '2px solid var(--accent)' },
  '.cm-selectionMatch': { background: 'var(--accent-soft)' },
  '&.cm-focused .cm-matchingBracket': { background: 'var(--accent-soft)' },
  '&.cm-focused .cm-nonmatchingBracket': { background: 'var(--bad-soft)' },
  '.cm-panels': { background: 'var(--raised)', color: 'var(--ink)', fontFamily: 'var(--font-sans)' },
  '.cm-panels.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { display: 'flow-root', padding: '6px 36px 6px 8px', fontSize: '12.5px' },
  '.cm-panel.cm-search label': {
    fontSize: 'inherit',
    display: 'inline-flex',
    alignItems: 'center',
    minHeight: '26px',
    verticalAlign: 'middle',
  },
  '.cm-textfield': {
    fontSize: 'inherit',
    minHeight: '26px',
    borderRadius: '4px',
    border: '1px solid var(--line-strong)',
    background: 'var(--surface)',
    color: 'var(--ink)',
  },
  '.cm-button': {
    fontSize: 'inherit',
    minHeight: '26px',
    borderRadius: '4px',
    border: '1px solid var(--line)',
    background: 'var(--surface)',
    color: 'var(--ink)',
  },
  '.cm-textfield:focus-visible, .cm-button:focus-visible, .cm-search [name=close]:focus-visible': RING,
  '.cm-panel.cm-search [name=close]': {
    color: 'var(--ink)',
    width: '26px',
    height: '26px',
    top: '6px',
    right: '6px',
  },
  '.cm-tooltip': {
    background: 'var(--surface)',
    color: 'var(--ink)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: 'var(--shadow)',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--font-mono)', maxHeight: '16em' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li': {
    padding: '0 8px',
    lineHeight: '26px',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    background: 'var(--accent)',
    color: 'var(--accent-ink)',
  },
  '.cm-completionMatchedText': { textDecoration: 'none', fontWeight: '700' },
  '.cm-completionDetail': { fontFamily: 'var(--font-sans)', fontStyle: 'normal', color: 'var(--muted)' },
  'li[aria-selected] > .cm-completionDetail': { color: 'inherit' },
});

const words = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--ok)' },
  { tag: [tags.comment, tags.lineComment], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.keyword, tags.labelName, tags.typeName], color: 'var(--busy)' },
]);

export const editorStyle = [look, syntaxHighlighting(words)];
