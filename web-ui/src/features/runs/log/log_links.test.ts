import { describe, expect, it } from 'vitest';
import { piecesOf } from './log_links';

const links = (text: string) =>
  piecesOf(text)
    .filter((piece) => piece.href !== undefined)
    .map((piece) => piece.href);

describe('an address in a log', () => {
  it('an address in a log becomes a link, and the text stays complete', () => {
    const text = 'see http://a.example/b?c=d&e=1#f, or HTTPS://B.example:8443/.';
    expect(links(text)).toEqual(['http://a.example/b?c=d&e=1#f', 'https://b.example:8443/']);
    expect(
      piecesOf(text)
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text);
    expect(piecesOf('nothing here')).toEqual([{ text: 'nothing here' }]);
    expect(piecesOf('')).toEqual([]);
  });
  it('an address ends before closing punctuation and keeps its own brackets', () => {
    expect(links('(at https://a.example/x)')).toEqual(['https://a.example/x']);
    expect(links('https://a.example/x_(y)')).toEqual(['https://a.example/x_(y)']);
    expect(links('[https://a.example/x]...')).toEqual(['https://a.example/x']);
    expect(links('"https://a.example/x"')).toEqual(['https://a.example/x']);
    expect(links('<a href=https://a.example/x>')).toEqual(['https://a.example/x']);
  });
  it('an address of another scheme is not linked', () => {
    for (const text of [
      'javascript:alert(1)',
      'data:text/html,x',
      'ftp://a.example/',
      'file:///etc/passwd',
      'xhttp://a.example',
      'http://',
      'https:///',
      'http://[::',
      'JAVASCRIPT://http://',
      'vbscript:http:',
    ]) {
      expect(
        links(text).filter((href) => !href!.startsWith('http')),
        text,
      ).toEqual([]);
    }
    expect(links('javascript:alert(1)')).toEqual([]);
    expect(links('ftp://a.example/')).toEqual([]);
    expect(links('http://[::')).toEqual([]);
  });
  it('an address that hides its target is not linked', () => {
    expect(links('http://bank.example@evil.example/')).toEqual([]);
    expect(links('http://user:secret@a.example/')).toEqual([]);
    expect(links('https://a.example/\u202egnp.exe')).toEqual(['https://a.example/']);
  });
  it('a line links at most 50 addresses, and long lines are parsed fast', () => {
    const began = performance.now();
    expect(links('http://a.example/ '.repeat(1000)).length).toBe(50);
    expect(links('http://a.example/' + '('.repeat(50_000) + ')'.repeat(49_000)).length).toBe(1);
    expect(links('http://a.example/' + ')'.repeat(100_000))).toEqual(['http://a.example/']);
    expect(links('http'.repeat(50_000))).toEqual([]);
    expect(performance.now() - began).toBeLessThan(1000);
  });
});
