import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { html } from '../../../dashboard/html.ts';

const text = (value: Parameters<typeof html>[1]): string => html`${value}`.toString();

describe('html', () => {
  it('escapes whatever could begin a tag, an entity, or end an attribute', () => {
    expect(text(`<script>alert("x")</script>&'`)).toBe(
      '&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;',
    );
    expect(html`<a title="${'"><img src=x onerror=alert(1)>'}">x</a>`.toString()).toBe(
      '<a title="&quot;&gt;&lt;img src=x onerror=alert(1)&gt;">x</a>',
    );
  });

  it('leaves its own parts as they are, in lists too', () => {
    const items = ['a', '<b>'].map((item) => html`<li>${item}</li>`);
    expect(html`${items}`.toString()).toBe('<li>a</li><li>&lt;b&gt;</li>');
  });

  it('shows numbers, also 0, and nothing for what is missing', () => {
    expect(html`${0}|${12n}|${null}|${undefined}|${false}|${''}`.toString()).toBe('0|12||||');
  });

  it('is not taken in by an object that only looks like its own', () => {
    const forged = { text: '<b>', toString: () => '<b>' } as never;
    expect(() => text(forged)).toThrow(TypeError);
    expect(text([['<i>']])).toBe('&lt;i&gt;');
  });

  it('lets no value out of its place, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        expect(text(value)).not.toMatch(/[<>"']/);
      }),
    );
  });
});
